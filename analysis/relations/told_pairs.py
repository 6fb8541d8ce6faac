"""The pairs behind all scores of a map that are worth a look, computed in one go."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from analysis.data.relations import FLOOR, OWN
from analysis.models.card import HeadId
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import Vocabulary
from analysis.progress import Progress
from analysis.relations.head_pairs import TOP, HeadPairs
from analysis.relations.method import RelationMethod
from analysis.relations.pairs import HeadPairsStep, kept_pairs, ranked_pairs, settings_of
from analysis.relations.pairs_file import shipped_pairs
from analysis.relations.plan import RelationPlan
from analysis.relations.scores import KINDS
from analysis.results.provenance import JsonObject
from analysis.results.scores import Scores

_AT_ONCE = 100  # scores whose rows are compared with the vocabulary together; more take more memory


@dataclass(frozen=True)
class RelationScore:
    """A head's score for a relation."""

    relation: str
    kind: str
    head: HeadId


def told_scores(scores: Scores, least: float = FLOOR) -> list[RelationScore]:
    """The scores for built-in relations that reach `least` in some sample, whichever sample a page then shows."""
    largest = scores.score.max("sample")
    layers = scores.provenance.model.layers
    told = []
    for relation in scores.items():
        if scores.item(relation).category == OWN:
            continue
        for kind in KINDS:
            reaches = (largest.sel(item=relation, kind=kind) >= least).values
            for layer, head in zip(*reaches.nonzero(), strict=True):
                told.append(RelationScore(relation, kind, HeadId(layers[layer], int(head))))
    return told


def told_pairs(
    method: RelationMethod, scores: Scores, model: OpenModel, progress: Progress, least: float = FLOOR
) -> Iterator[tuple[str, HeadPairs]]:
    """The pairs behind each of these scores, in each of its samples; those that ship already are taken over."""
    told = told_scores(scores, least)
    if not told:
        return
    chosen: JsonObject = {
        "relations": list(dict.fromkeys(one.relation for one in told)),
        "layers": sorted({one.head.layer for one in told}),
    }
    settings = method.settings.model_validate({**settings_of(method, scores.provenance), **chosen})
    plan = method.plan(model.checkpoint.card, settings)
    if not isinstance(plan, RelationPlan):
        raise TypeError("only scores for relations have pairs behind them")
    for sample in plan.samples:
        steps = []
        for step in _steps(plan, told, sample):
            shipped = shipped_pairs(step.key)
            if shipped is None:
                steps.append(step)
            else:
                yield step.key, shipped
        if steps:
            yield from _computed(plan, steps, sample, model, progress)


def _steps(plan: RelationPlan, told: list[RelationScore], sample: str) -> Iterator[HeadPairsStep]:
    """What each answer alone would be asked for by."""
    relations = {relation.name: relation for relation in plan.relations}
    for one in told:
        yield HeadPairsStep.of(replace(plan, relations=(relations[one.relation],)), one.head, one.kind, sample)


def _computed(
    plan: RelationPlan, steps: list[HeadPairsStep], sample: str, model: OpenModel, progress: Progress
) -> Iterator[tuple[str, HeadPairs]]:
    """The answers to steps about one sample: the model is read once for all."""
    from analysis.compute.hits import HeadRelation, Query, ranks_of_heads
    from analysis.compute.weights import memory_of, open_device

    vocabulary = Vocabulary.open(model.checkpoint.folder)
    size = model.checkpoint.card.vocabulary
    relations = list({step.relation.name: step.relation for step in steps}.values())
    numbers = {relation.name: number for number, relation in enumerate(relations)}
    kept = [kept_pairs(relation, vocabulary, size, plan.several) for relation in relations]
    ks = [plan.k(relation) for relation in relations]
    device = open_device(model.device)
    with memory_of(device):
        inputs = plan.reader(sample).inputs(model, device, Query.of(list(zip(kept, ks, strict=True))), progress)
        for start in range(0, len(steps), _AT_ONCE):
            some = steps[start : start + _AT_ONCE]
            asked = []
            for step in some:
                way = KINDS.index(step.kind)
                asked.append(HeadRelation(step.head.layer, step.head.head, numbers[step.relation.name], way))
            for step, ranks in zip(some, ranks_of_heads(inputs, asked, TOP, progress), strict=True):
                pairs = ranked_pairs(kept[numbers[step.relation.name]], step.k, ranks, vocabulary)
                yield step.key, step.answer(pairs, size)
