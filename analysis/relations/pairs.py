"""The pairs behind a score as a step: computed for one head when somebody asks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.data.relations import Relation
from analysis.errors import RelationError, SettingError
from analysis.method import Plan, digest
from analysis.models.card import HeadId
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import Vocabulary
from analysis.progress import Progress, silent
from analysis.relations.head_pairs import TOP, HeadPairs, RankedPair
from analysis.relations.method import RelationMethod
from analysis.relations.plan import RelationPlan
from analysis.relations.scores import KINDS
from analysis.relations.steps import Reader
from analysis.results.provenance import JsonObject, Provenance
from analysis.results.store import Store

if TYPE_CHECKING:
    from analysis.compute.hits import Inputs, Ranks

KeptPairs = Sequence[tuple[tuple[int, ...], int]]  # tokens of the source, token of the target

_VERSION = 1  # raise whenever the answer may come out differently


def settings_of(method: RelationMethod, provenance: Provenance) -> JsonObject:
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
        """The step for a plan of one relation; for its first sample unless one is named."""
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
        kept = kept_pairs(self.relation, vocabulary, size, self.several)
        if not kept:
            return self.answer([], size)
        from analysis.compute.hits import HeadRelation, Query, ranks_of_heads
        from analysis.compute.weights import device_name, memory_of, open_device

        device = open_device(model.device)
        model.device_name = device_name(device)
        asked = HeadRelation(self.head.layer, self.head.head, 0, KINDS.index(self.kind))
        query = Query.of([(kept, self.k)])
        read = (self.reader, self.relation.hash, self.k, self.several)

        def inputs_of(reader: Reader) -> "Inputs":
            return reader.inputs(model, device, query, progress)

        with memory_of(device):
            reading = model.keep_for_questions(read, _Reading)
            inputs = reading.inputs(self.reader, self.head.layer, inputs_of)
            (ranks,) = ranks_of_heads(inputs, [asked], TOP)
        return self.answer(ranked_pairs(kept, self.k, ranks, vocabulary), size)

    def answer(self, pairs: Sequence[RankedPair], vocabulary: int) -> HeadPairs:
        """The answer, the best rank first."""
        ordered = sorted(pairs, key=lambda pair: (pair.rank, pair.source, pair.target))
        words = (self.method, self.relation.name, self.relation.title, self.kind, self.sample, str(self.head), self.k)
        return HeadPairs(*words, vocabulary, tuple(ordered))


class _Reading:
    """What questions about a relation read.

    Somebody waits for the first answer, so the model is run as far as its head's layer only. A question about a later
    layer runs all of them: after that, every head's answer is there without running anything.
    """

    def __init__(self) -> None:
        self._reader: Reader | None = None
        self._inputs: Inputs | None = None

    def inputs(self, whole: Reader, layer: int, read: "Callable[[Reader], Inputs]") -> "Inputs":
        """For the heads of a layer."""
        wanted = whole.up_to(layer)
        if self._inputs is None or self._reader is None or self._reader.up_to(layer) != wanted:
            self._reader = wanted if self._inputs is None else whole
            self._inputs = None  # two may not fit
            self._inputs = read(self._reader)
        return self._inputs


def kept_pairs(relation: Relation, vocabulary: Vocabulary, size: int, several: bool) -> KeptPairs:
    """The pairs that a model's tokenizer can represent; sources of several tokens only if they are asked for."""
    kept = vocabulary.keep_several(relation, size)
    return kept if several else [pair for pair in kept if len(pair[0]) == 1]


def ranked_pairs(kept: KeptPairs, k: int, ranks: "Ranks", vocabulary: Vocabulary) -> list[RankedPair]:
    """Tokens and ranks in words."""
    rows = zip(kept, ranks.target.tolist(), ranks.source.tolist(), ranks.top.tolist(), strict=True)
    pairs = []
    for (source, target), rank, source_rank, top in rows:
        words = "".join(vocabulary.text(token) for token in source).strip(), vocabulary.text(target).strip()
        tokens = tuple(vocabulary.text(token) for token in top)
        pairs.append(RankedPair(*words, rank <= k, rank, source_rank, tokens))
    return pairs


def computed_pairs(step: HeadPairsStep, model: OpenModel, store: Store, progress: Progress = silent) -> HeadPairs:
    """What the step gives, from the store or computed in this process."""
    content = store.get(step.key)
    if content is None:
        [(name, content)] = step.run(model, progress)
        store.put(name, content)
    return HeadPairs.from_json(content)
