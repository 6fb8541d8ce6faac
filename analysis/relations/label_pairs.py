"""The pairs behind every label of a map, computed in one go."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from analysis.data.relations import OWN
from analysis.models.card import HeadId
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import Vocabulary
from analysis.progress import Progress
from analysis.relations.head_pairs import TOP, HeadPairs
from analysis.relations.method import RelationMethod
from analysis.relations.pairs import HeadPairsStep, kept_pairs, ranked_pairs, settings_of
from analysis.relations.plan import RelationPlan
from analysis.relations.scores import KINDS, TAU
from analysis.results.provenance import JsonObject
from analysis.results.scores import Scores


@dataclass(frozen=True)
class RelationLabel:
    """A head implements a relation: its score, the mean over the samples, is above τ."""

    relation: str
    kind: str
    head: HeadId


def labels_of(scores: Scores) -> list[RelationLabel]:
    """All labels of a map for built-in relations."""
    mean = scores.over_samples("mean").score.isel(sample=0)
    layers = scores.provenance.model.layers
    labels = []
    for relation in scores.items():
        if scores.item(relation).category == OWN:
            continue
        for kind in KINDS:
            above = (mean.sel(item=relation, kind=kind) > TAU).values
            for layer, head in zip(*above.nonzero(), strict=True):
                labels.append(RelationLabel(relation, kind, HeadId(layers[layer], int(head))))
    return labels


def label_pairs(
    method: RelationMethod, scores: Scores, model: OpenModel, progress: Progress, first: int | None = None
) -> Iterator[tuple[str, HeadPairs]]:
    """The pairs behind every label of a map, in each of its samples, or in the first few."""
    labels = labels_of(scores)
    if not labels:
        return
    chosen: JsonObject = {
        "relations": list(dict.fromkeys(label.relation for label in labels)),
        "layers": sorted({label.head.layer for label in labels}),
    }
    settings = method.settings.model_validate({**settings_of(method, scores.provenance), **chosen})
    plan = method.plan(model.checkpoint.card, settings)
    if not isinstance(plan, RelationPlan):
        raise TypeError("only scores for relations have pairs behind them")
    for sample in plan.samples[:first]:
        yield from _of_sample(plan, labels, sample, model, progress)


def _of_sample(
    plan: RelationPlan, labels: list[RelationLabel], sample: str, model: OpenModel, progress: Progress
) -> Iterator[tuple[str, HeadPairs]]:
    from analysis.compute.hits import HeadRelation, Query, ranks_of_heads
    from analysis.compute.weights import memory_of, open_device

    vocabulary = Vocabulary.open(model.checkpoint.folder)
    size = model.checkpoint.card.vocabulary
    relations = {relation.name: relation for relation in plan.relations}
    numbers = {name: number for number, name in enumerate(relations)}
    kept = [kept_pairs(relation, vocabulary, size, plan.several) for relation in relations.values()]
    asked = []
    for label in labels:
        asked.append(HeadRelation(label.head.layer, label.head.head, numbers[label.relation], KINDS.index(label.kind)))
    ks = [plan.k(relation) for relation in relations.values()]
    device = open_device(model.device)
    with memory_of(device):
        inputs = plan.reader(sample).inputs(model, device, Query.of(list(zip(kept, ks, strict=True))), progress)
        ranks = ranks_of_heads(inputs, asked, TOP, progress)
    for label, of_label in zip(labels, ranks, strict=True):
        one = replace(plan, relations=(relations[label.relation],))
        step = HeadPairsStep.of(one, label.head, label.kind, sample)
        pairs = ranked_pairs(kept[numbers[label.relation]], step.k, of_label, vocabulary)
        yield step.key, step.answer(pairs, size)
