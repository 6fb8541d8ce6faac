"""What the methods that score heads for relations have in common: they are shown on the same map."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import xarray as xr

from analysis.data import relations
from analysis.data.files import OwnFile
from analysis.data.relations import OWN, Relation
from analysis.errors import HeadAtlasError, RelationError
from analysis.method import Method, RequestSummary, digest
from analysis.models.card import HeadId, ModelCard
from analysis.models.pair_count import kept_pairs
from analysis.models.vocabulary import MIN_PAIRS
from analysis.relations import judging, report
from analysis.relations.findings import no_hits, relation_answers, relation_findings
from analysis.relations.frame import relation_frame
from analysis.relations.labels import copy_like, unspecific
from analysis.relations.layer import part_name
from analysis.relations.pairs_file import Hits, shipped_hits
from analysis.relations.plan import RelationPlan, too_few
from analysis.relations.scores import TAU
from analysis.relations.settings import default_ks, relation_of
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.labels import LabelRule
from analysis.results.own_sets import SETTING, is_mixed, set_id
from analysis.results.provenance import JsonObject, PlainValues, Provenance, ScoredItem
from analysis.results.scores import ONLY_SAMPLE, OVER_SAMPLES, Missing, Scores
from analysis.results.tables import csv_bytes

_KS = ("k_copying", "k_standard")
_MORE_PAIRS = "Add more pairs, use more common words, or leave it out."


class RelationMethod(Method):
    """Which relations each head implements, by one way of looking at the head."""

    answers_what = True
    label = LabelRule(TAU, "τ", "score", strict=True)
    basis: ClassVar[str]  # what the scores are read from, as a switch between such methods calls it
    about: ClassVar[str]  # the same as the end of "What each head does, …"
    where: ClassVar[str]  # the same as a part of a sentence about one head
    at_top: ClassVar[bool] = False  # the answer about a head has its fields at the top, too, as it was with one method
    sampled: ClassVar[tuple[str, str]] = ("after", "carrier phrases")  # before a sample's name; what samples are
    samples_field: ClassVar[str] = ""  # the setting that lists the samples, if there are several
    judges: ClassVar[bool] = True
    not_of_head = ("layers",)
    depends_on: ClassVar[tuple[str, ...]] = ()  # settings that two results on one map must share, besides k

    def settings_of(self, provenance: Provenance) -> JsonObject:
        """k, what else the scores depend on, and layers and relations, unless these are all that there are."""
        recorded = provenance.settings
        settings: JsonObject = {"k": recorded["k_standard"], "k_copying": recorded["k_copying"]}
        settings |= {name: recorded[name] for name in self.depends_on if name in recorded}
        if tuple(recorded.get("layers", ())) != provenance.model.layers:
            settings["layers"] = recorded.get("layers")
        applicable = [item.name for item in provenance.items if item.applicable]
        useless = {item.name for item in provenance.items if not item.applicable}
        if set(applicable) != set(relations.builtin()) - useless:
            own = self._own_relations(provenance)
            settings["relations"] = [_file_name(name) if name in own else name for name in applicable]
            settings["set_name"] = recorded.get(SETTING) if own else None
        return settings

    def files_of(self, provenance: Provenance) -> list[str]:
        """A table of pairs for each relation of one's own."""
        return [_file_name(name) for name in self._own_relations(provenance)]

    def _own_relations(self, provenance: Provenance) -> list[str]:
        builtin = relations.builtin()
        return [item.name for item in provenance.items if item.applicable and item.name not in builtin]

    def asked(self, settings: Any, card: ModelCard | None = None) -> RequestSummary:
        """The relations; one's own are named, and their set is what a link asks for."""
        chosen = settings.chosen_relations()
        own = [relation for relation in chosen if relation.category == OWN]
        words = ", ".join(relation.title for relation in own)
        key = set_id((relation.name, relation.hash) for relation in own) if own else ""
        choice = self.choice_of(settings, card) if card is not None else ""
        return RequestSummary(tuple(relation.name for relation in chosen), choice, words=words, own=key)

    def choice_of(self, settings: Any, card: ModelCard) -> str:
        """The short name that the result will have."""
        plan = self.plan(card, settings)
        return self.choice(plan.provenance()) if isinstance(plan, RelationPlan) else ""

    def check_files(self, settings: Any, folder: Path | None) -> dict[str, HeadAtlasError]:
        """Files with too few pairs that the model's tokenizer can represent."""
        useless: dict[str, HeadAtlasError] = {}
        for file in settings.files:
            if not file.is_task:
                relation = relation_of(file)
                several = self.takes_several(settings)
                reason = _too_few(relation, several, folder)
                if reason:
                    useless[file.name] = RelationError(f"{file.name}: {reason}", _MORE_PAIRS)
        return useless

    def takes_several(self, settings: Any) -> bool:
        """Whether sources may have several tokens."""
        return False

    def takes(self, field: str, file: OwnFile) -> bool:
        """Pairs of words."""
        return field == "files" and not file.is_task

    def identity(self, settings: Any) -> Any:
        """The content of the relations rather than their names."""
        hashes = sorted((relation.name, relation.hash) for relation in settings.chosen_relations())
        own = [getattr(settings, name) for name in self.depends_on]
        return [hashes, settings.k, settings.k_copying, *own, settings.layers]

    def legacy_settings(self, values: PlainValues) -> JsonObject:
        """One's own relations stood there parsed, built-in ones by name."""
        files = []
        for relation in values["own"]:
            files.append({"name": f"{relation['name']}.json", "content": json.dumps(relation["pairs"])})
        settings: JsonObject = {"files": files}
        if values["known"] != list(relations.builtin()):
            settings["relations"] = values["known"]
        return settings

    def rank(self, scores: Scores) -> Any:
        """Any score at all, the default settings, one with controls, more scores, none of one's own, the newer result.

        Uploaded relations neither count nor put their result before another with as many scores: the map
        of the built-in ones stays as it is.
        """
        facts = scores.provenance
        builtin = [item.name for item in facts.items if item.category != OWN]
        present = int((scores.missing == Missing.PRESENT).sum())
        counted = int((scores.missing.sel(item=builtin) == Missing.PRESENT).sum())
        first = present > 0, self.is_default(facts), counted > 0, bool(scores.parts), counted
        return *first, not is_mixed(facts), present, facts.date

    def is_default(self, provenance: Provenance) -> bool:
        """Whether k and all else are as a map is computed when nobody chose anything."""
        ks = tuple(provenance.settings.get(name) for name in _KS)
        own = [provenance.settings.get(name) for name in self.depends_on]
        default = [self.settings.model_fields[name].get_default() for name in self.depends_on]
        return ks == default_ks(provenance.model.vocabulary) and own == default

    def mergeable(self, provenance: Provenance) -> Any:
        """The same k, and the same of all else that the scores depend on."""
        return [provenance.settings.get(name) for name in (*_KS, *self.depends_on)]

    def choice(self, provenance: Provenance) -> str:
        """How the API names a result with settings of its own; the default ones need no name."""
        return "" if self.is_default(provenance) else digest(self.mergeable(provenance))[:8]

    def words(self, provenance: Provenance) -> str:
        """How many relations, and the settings where they are not the default ones."""
        count = len(provenance.items)
        words = f"{count} {'relation' if count == 1 else 'relations'}"
        if self.is_default(provenance):
            return words
        return f"{words}, k = {provenance.settings['k_standard']}, {self.report_settings(provenance)}"

    def report(self, scores: Scores) -> JsonObject:
        """The best heads of every relation."""
        return report.map_data(scores)

    def report_text(self, scores: Scores) -> str:
        """The same as a table."""
        return report.map_text(scores, self.report_settings(scores.provenance))

    def over(self, scores: Scores, how: str) -> Scores:
        """The mean is what a report gives anyway; of another choice the settings tell."""
        if how == OVER_SAMPLES[0] or scores.samples == [ONLY_SAMPLE] or not scores.has_sample(how):
            return scores
        settings = {**scores.provenance.settings, "over": how}
        return replace(scores.over_samples(how), provenance=replace(scores.provenance, settings=settings))

    def over_words(self, provenance: Provenance, samples: Sequence[str], words: str) -> str:
        """How a report takes the samples together."""
        how = samples[0] if len(samples) == 1 else provenance.settings.get("over", OVER_SAMPLES[0])
        together = {"mean": "mean of", "every": "every one of", "some": "at least one of"}
        return f"{together[how]} {len(samples)} {words}" if how in together else f"{self.sampled[0]} {how!r}"

    def report_settings(self, provenance: Provenance) -> str:
        """Its own settings in a few words."""
        return ""

    def head(self, scores: Scores, head: HeadId) -> JsonObject:
        """Every relation's scores of a head, and the heads that share its value matrix."""
        return self._named(report.head_data(scores, head))

    def no_head(self, card: ModelCard, head: HeadId) -> JsonObject:
        """The heads that share its value matrix are known all the same."""
        mates = [{"head": str(mate)} for mate in card.group_mates(head)]
        return self._named({"relations": [], "group_mates": mates})

    def _named(self, fields: JsonObject) -> JsonObject:
        """Under the name of the method."""
        return {**fields, self.name: fields} if self.at_top else {self.name: fields}

    def head_text(self, scores: Scores, head: HeadId) -> list[str]:
        """The same for a terminal."""
        own = self.report_settings(scores.provenance) if "over" in scores.provenance.settings else ""
        return [f"{self.title}, {own}" if own else self.title, *report.head_lines(scores, head)]

    def unit(self, item: str, kind: str) -> str:
        """Shares of the pairs, or of those that are hits."""
        return "share of hits" if kind.startswith("beyond") else "share of pairs"

    def strengths(self, scores: Scores, how: str = "mean") -> xr.DataArray:  # [item, layer, head]
        """The score for each applicable relation, promoting or suppressing, whichever is larger."""
        one = scores.over_samples(how)
        return one.score.sel(item=one.items()).isel(sample=0, drop=True).max("kind")

    def specific_strengths(self, scores: Scores, how: str = "mean") -> xr.DataArray | None:  # [item, layer, head]
        """The largest score that is neither copy-like nor, at the default threshold, unspecific."""
        one = scores.over_samples(how)
        names = one.items()
        of_kinds = []
        for kind in one.kinds:
            beyond, control = (one.parts.get(part_name(part, kind)) for part in ("beyond", "control"))
            if beyond is None or control is None:
                return None
            poor = copy_like(beyond.sel(item=names)) | unspecific(control.sel(item=names))
            score = one.score.sel(item=names, kind=kind, drop=True)  # [item, sample, layer, head]
            of_kinds.append(score.copy(data=np.where(poor, 0.0, score)))
        return xr.concat(of_kinds, "kind").isel(sample=0, drop=True).max("kind")

    def holding(self, results: Mapping[str, Scores], listed: Sequence[Method]) -> Method:
        """The first of those that score relations, unless a later one disagrees."""
        return judging.method_that_holds(_family(listed), results)

    def weighed(self, finding: Finding, results: Mapping[str, Scores], listed: Sequence[Method]) -> Finding:
        """With a remark where a method that judges has the same score, and it is no label."""
        return judging.weighed(finding, _family(listed), results)

    def judgement(self, model: str, results: Mapping[str, Scores], listed: Sequence[Method]) -> tuple[JsonObject, str]:
        """How far its map agrees with that of a method that judges it."""
        return judging.judgement(self, _family(listed), model, results)

    def findings(self, scores: Scores, head: HeadId) -> list[Finding]:
        """The relations that the head implements."""
        return relation_findings(scores, head, self.where)

    def answers(self, scores: Scores, question: SearchQuestion) -> list[Finding]:
        """The best heads of the relations that are named."""
        hits_of = partial(self._hits, scores.provenance) if self.is_default(scores.provenance) else no_hits
        return relation_answers(scores, question, self.where, hits_of)

    def _hits(self, provenance: Provenance, item: ScoredItem, kind: str, head: HeadId) -> Hits | None:
        """The hits of a label that come with the project."""
        card, builtin = provenance.model, relations.builtin().get(item.name)
        if builtin is None or builtin.hash != item.hash:
            return None
        return shipped_hits(card.id, card.fingerprint, self.name, item.name, kind, head)

    def exported(self, scores: Scores, ending: str) -> bytes:
        """The CSV says of every score how sure it is and what it is compared with."""
        if ending != ".csv":
            return super().exported(scores, ending)
        return csv_bytes(relation_frame(scores))


def _family(listed: Sequence[Method]) -> list[RelationMethod]:
    """Of all methods those that score relations."""
    return [method for method in listed if isinstance(method, RelationMethod)]


def _file_name(relation: str) -> str:
    """What *Models and jobs* calls the pairs of a relation of one's own when they are downloaded."""
    return f"{relation}.csv"


def _too_few(relation: Relation, several: bool, folder: Path | None) -> str:
    """Why a relation has too few pairs, with the count; empty when it has enough, as far as is known."""
    total = len(relation.pairs)
    if total < MIN_PAIRS:
        return f"it has {total} {'pair' if total == 1 else 'pairs'}, and {MIN_PAIRS} are needed"
    kept = kept_pairs(folder, relation, several) if folder is not None else None
    return "" if kept is None else too_few(total, kept, several)
