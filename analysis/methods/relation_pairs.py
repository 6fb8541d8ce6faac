"""The pairs behind a score as a step: computed for one head when somebody asks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from analysis import methods
from analysis.data.relations import Relation
from analysis.errors import RelationError, SettingError
from analysis.methods.head_pairs import TOP, HeadPairs, RankedPair
from analysis.methods.method import Plan, digest
from analysis.methods.relation_method import RelationMethod
from analysis.methods.relation_plan import RelationPlan
from analysis.methods.relation_scores import KINDS
from analysis.methods.relation_steps import Reader
from analysis.models.card import HeadId
from analysis.models.opened import OpenModel
from analysis.models.vocabulary import Vocabulary
from analysis.progress import Progress, silent
from analysis.results.provenance import Data, Provenance
from analysis.results.store import Store

_VERSION = 1  # raise whenever the answer may come out differently


def relation_methods() -> list[RelationMethod]:
    """The methods whose scores have pairs behind them."""
    return [method for method in methods.METHODS if isinstance(method, RelationMethod)]


def relation_method(name: str) -> RelationMethod:
    """One of them by its name; without a name the first."""
    for method in relation_methods():
        if name in ("", method.name):
            return method
    names = ", ".join(method.name for method in relation_methods())
    raise SettingError(f"there are no pairs behind the scores of {name[:40]!r}", f"Choose from {names}.")


def settings_of(method: RelationMethod, provenance: Provenance) -> Data:
    """The settings under which a map was computed, so that the pairs tell of its own scores."""
    values = provenance.settings
    own = {name: values[name] for name in method.depends_on if name in values}
    return {"k": values["k_standard"], "k_copying": values["k_copying"], **own}


@dataclass(frozen=True)
class HeadPairsStep:
    """Where one head ranks the target of every kept pair of a relation."""

    key: str
    method: str
    relation: Relation
    kind: str
    sample: str
    head: HeadId
    k: int
    several: bool  # sources may have several tokens
    reader: Reader
    words: str = "ranking the targets"

    @classmethod
    def of(cls, plan: Plan, head: HeadId, kind: str, sample: str = "") -> "HeadPairsStep":
        """Of a plan of one relation; without a sample of the first one."""
        if not isinstance(plan, RelationPlan):
            raise TypeError("only scores for relations have pairs behind them")
        if len(plan.relations) != 1:
            names = ", ".join(relation.name for relation in plan.relations)
            raise RelationError("the pairs of one relation are shown at a time", f"Choose from {names}.")
        if kind not in KINDS:
            raise SettingError(f"there is no kind {kind[:40]!r} of score", f"Choose from {', '.join(KINDS)}.")
        sample = sample or plan.samples[0]
        if sample not in plan.samples:
            choices = ", ".join(repr(name) for name in plan.samples)
            raise SettingError(f"there is no sample {sample[:80]!r} in this map", f"Choose from {choices}.")
        relation = plan.relations[0]
        name, k, several = plan.name, plan.k(relation), plan.several
        step = cls("", name, relation, kind, sample, plan.card.check(head), k, several, plan.reader(sample))
        version = [_VERSION, plan.version, plan.settings()]
        what = [relation.name, relation.hash, kind, sample, str(head), step.k, step.several]
        fingerprint = plan.card.fingerprint
        return replace(step, key=f"unit/{fingerprint}/{name}/{digest([fingerprint, name, 'ranks', version, what])}")

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """One piece: `HeadPairs` as JSON."""
        yield self.key, self._ranked(model, progress).to_json()

    def _ranked(self, model: OpenModel, progress: Progress) -> HeadPairs:
        vocabulary = Vocabulary.open(model.checkpoint.folder)
        size = model.checkpoint.card.vocabulary
        kept = vocabulary.keep_several(self.relation, size)
        if not self.several:
            kept = tuple(pair for pair in kept if len(pair[0]) == 1)
        pairs = self._ranks(model, kept, vocabulary, progress) if kept else []
        pairs.sort(key=lambda pair: pair.rank)
        facts = (self.method, self.relation.name, self.relation.title, self.kind, self.sample, str(self.head), self.k)
        return HeadPairs(*facts, size, tuple(pairs))

    def _ranks(self, model: OpenModel, kept: Any, vocabulary: Vocabulary, progress: Progress) -> list[RankedPair]:
        from analysis.compute.hits import Query, ranks_of_head
        from analysis.compute.weights import device_name, memory_of, open_device

        device = open_device(model.device)
        model.device_name = device_name(device)
        with memory_of(device):
            inputs = self.reader.inputs(model, device, Query.of([(kept, self.k)]), progress)
            ranks = ranks_of_head(inputs, self.head.layer, self.head.head, KINDS.index(self.kind), TOP)
        rows = zip(kept, ranks.target.tolist(), ranks.source.tolist(), ranks.top.tolist(), strict=True)
        pairs = []
        for (source, target), rank, source_rank, top in rows:
            words = "".join(vocabulary.text(token) for token in source).strip(), vocabulary.text(target).strip()
            tokens = tuple(vocabulary.text(token) for token in top)
            pairs.append(RankedPair(*words, rank <= self.k, rank, source_rank, tokens))
        return pairs


def computed_pairs(step: HeadPairsStep, model: OpenModel, store: Store, progress: Progress = silent) -> HeadPairs:
    """What the step gives, from the store or computed in this process."""
    content = store.get(step.key)
    if content is None:
        [(name, content)] = step.run(model, progress)
        store.put(name, content)
    return HeadPairs.from_json(content)
