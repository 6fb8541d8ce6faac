"""What attention patterns support about a head, in words."""

import xarray as xr

from analysis.methods.behaviour.measures import MEASURES, NAME, RANDOM, SCORE, BehaviourMeasure
from analysis.models.card import HeadId
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.scores import ONLY_SAMPLE, Scores

_LISTED = 12  # heads of a measure
_RESTING = 0.05  # of all heads, those of which it is said that they rest on the first token
_WEAK = 0.09  # strength of resting all the time, which is not something that a head does: it is said last
_WORDS = "attention behaviour behavior"  # of a question about any measure
_DOES = {
    "previous_token": "Looks at the token before",
    "duplicate_token": "Looks at an earlier occurrence of the same token",
    "induction": "Induction: looks at what followed the same token before",
    "first_token": "Rests on the first token",
}


def behaviour_findings(scores: Scores, head: HeadId) -> list[Finding]:
    """A sentence for each thing that the head does with most of its attention, the strongest first."""
    findings = []
    for measure in _measured(scores):
        value = float(scores.score.sel(item=measure.name, kind=SCORE, layer=head.layer, head=head.head).item())
        if measure.threshold is not None and value >= measure.threshold and _stands_out(scores, measure, head):
            findings.append(_finding(scores, measure, head, value))
    return sorted(findings, key=lambda finding: finding.order)


def _stands_out(scores: Scores, measure: BehaviourMeasure, head: HeadId) -> bool:
    """Whether it is worth a sentence: most heads rest on the first token, so only those that do most are named."""
    card = scores.provenance.model
    most = _RESTING * len(card.layers) * card.heads
    return measure.on == RANDOM or scores.rank(measure.name, head, SCORE) <= max(1, most)


def behaviour_answers(scores: Scores, question: SearchQuestion) -> list[Finding]:
    """The strongest heads of the measures that a question names."""
    findings = []
    for measure in _measured(scores):
        if question.is_about(f"{measure.title} {measure.name} {_WORDS}"):
            for head, value, _ in scores.top(measure.name, _LISTED, SCORE):
                if measure.threshold is not None and value >= measure.threshold:
                    findings.append(_finding(scores, measure, head, value))
    return sorted(findings, key=lambda finding: finding.order)


def behaviour_strengths(scores: Scores) -> xr.DataArray:  # [item, layer, head]
    """The score of each pattern on random tokens, from its threshold on; 0 below it.

    The first-token sink is left out: most heads rest there, and resting is not something that a head does.
    """
    shares = scores.score.sel(kind=SCORE, sample=ONLY_SAMPLE, drop=True)
    strengths = []
    for measure in _measured(scores):
        if measure.on == RANDOM and measure.threshold is not None:
            share = shares.sel(item=[measure.name])
            strengths.append(share.where((share >= measure.threshold) | share.isnull(), 0.0))
    return xr.concat(strengths, "item") if strengths else shares.isel(item=[])


def _measured(scores: Scores) -> list[BehaviourMeasure]:
    """The measures that say what a head does and that the result has."""
    there = {item.name for item in scores.provenance.items}
    return [measure for measure in MEASURES if measure.threshold is not None and measure.name in there]


def _finding(scores: Scores, measure: BehaviourMeasure, head: HeadId, value: float) -> Finding:
    card = scores.provenance.model
    rank, heads = scores.rank(measure.name, head, SCORE), len(card.layers) * card.heads
    text = f"{_DOES[measure.name]}: {value:.2f} of its attention, rank {rank} of {heads}."
    strength = value if measure.on == RANDOM else _WEAK * value
    return Finding(head, text, strength, NAME, measure.name, SCORE)
