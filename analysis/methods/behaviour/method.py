"""The behaviour of heads as a method."""

import xarray as xr

from analysis.method import Method
from analysis.methods.behaviour.findings import behaviour_answers, behaviour_findings, behaviour_strengths
from analysis.methods.behaviour.measures import MEASURED, MEASURES, NAME, SCORE, SHARE, VERSION
from analysis.methods.behaviour.plan import BehaviourPlan
from analysis.methods.behaviour.settings import BehaviourSettings
from analysis.models.card import HeadId, ModelCard
from analysis.options import Command
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.provenance import JsonObject, Provenance
from analysis.results.scores import Scores

_UNITS = {measure.name: measure.unit for measure in MEASURES}

_TOP = 5  # heads listed per measure
_FIELDS = tuple(BehaviourSettings.model_fields)


class BehaviourMethod(Method):
    """Where each head looks."""

    name = NAME
    title = "Behaviour"
    sentence = "Where each head looks: at the token before, at repetitions, at the first token. Seconds."
    version = VERSION
    settings = BehaviourSettings
    by_default = True
    category = NAME
    category_rule = ("at least 0.3 of its attention", "follows a pattern")
    commands = (Command(NAME, "where every head looks: previous token, induction, first token …", _FIELDS),)

    def plan(self, card: ModelCard, settings: BehaviourSettings) -> BehaviourPlan:
        """For a model."""
        chosen = {name: getattr(settings, name) for name in _FIELDS}
        return BehaviourPlan(card, BehaviourSettings(**chosen))

    def words(self, provenance: Provenance) -> str:
        """What the model read."""
        return f"{provenance.settings['blocks']} × {provenance.settings['block']} repeated random tokens, and text"

    def report(self, scores: Scores) -> JsonObject:
        """The strongest heads of every measure."""
        measured = []
        for item in scores.provenance.items:
            best = []
            for head, score, _ in scores.top(item.name, _TOP, SCORE):
                best.append({"head": str(head), "score": round(score, 4), MEASURED: _measured(scores, item.name, head)})
            measured.append({**item.to_plain(), **scores.records[item.name], "heads": best})
        card, settings = scores.provenance.model.to_dict(), dict(scores.provenance.settings)
        return {"model": card, "settings": settings, "measures": measured}

    def report_text(self, scores: Scores) -> str:
        """The same as a table."""
        card = scores.provenance.model
        lines = [f"{card.id} {card.revision[:12]} · {self.words(scores.provenance)}", ""]
        for measure in self.report(scores)["measures"]:
            heads = "  ".join(f"{head['head']} {head['score']:.2f}" for head in measure["heads"])
            lines.append(f"{measure['title']:18}  {heads}")
        lines += ["", *(f"{measure.title}: {measure.sentence}" for measure in MEASURES)]
        return "\n".join(lines)

    def head(self, scores: Scores, head: HeadId) -> JsonObject:
        """Every measure of a head, with its rank."""
        measures = {}
        for item in scores.provenance.items:
            value = float(scores.score.sel(item=item.name, kind=SCORE, layer=head.layer, head=head.head).item())
            measures[item.name] = {
                "title": item.title,
                "score": None if value != value else round(value, 4),
                MEASURED: _measured(scores, item.name, head),
                "rank": scores.rank(item.name, head, SCORE),
                **scores.records[item.name],
            }
        return {self.name: measures}

    def head_text(self, scores: Scores, head: HeadId) -> list[str]:
        """The same for a terminal."""
        heads = len(scores.provenance.model.layers) * scores.provenance.model.heads
        lines = ["where it looks"]
        for measure in self.head(scores, head)[self.name].values():
            unit = "" if measure["unit"] == SHARE else f"  ({measure[MEASURED]:.1f} {measure['unit']})"
            score = "–" if measure["score"] is None else f"{measure['score']:.2f}"
            lines.append(f"{measure['title']:18}  {score}  {measure['rank']:>4} of {heads}{unit}")
        return lines

    def unit(self, item: str, kind: str) -> str:
        """Shares of attention; of what is none, the share of the largest, or what was measured."""
        measured = _UNITS.get(item, kind)
        if measured == SHARE:
            return SHARE
        return f"{measured} of {item}" if kind == MEASURED else f"share of the largest {item}"

    def strengths(self, scores: Scores, how: str = "mean") -> xr.DataArray:  # [item, layer, head]
        """The share of its attention that a head gives to what it is said to do; 0 below the measure's threshold."""
        return behaviour_strengths(scores)

    def findings(self, scores: Scores, head: HeadId) -> list[Finding]:
        """Where the head looks most of the time."""
        return behaviour_findings(scores, head)

    def answers(self, scores: Scores, question: SearchQuestion) -> list[Finding]:
        """The strongest heads of the measures that are named."""
        return behaviour_answers(scores, question)


def _measured(scores: Scores, item: str, head: HeadId) -> float | None:
    """What was measured of a head in the measure's own unit."""
    values = scores.part(MEASURED, item)
    if values is None:
        return None
    return round(float(values[scores.provenance.model.layers.index(head.layer), head.head]), 4)
