"""Computing results in the test's own process, and requests made of relations and tasks that are at hand."""

import csv
import io
import json

from analysis.data import relations as relation_data
from analysis.data import tasks as task_data
from analysis.data.relations import Relation
from analysis.data.tasks import Contrast, Task
from analysis.jobs.executor import compute
from analysis.jobs.request import Request, make_request
from analysis.method import Plan
from analysis.methods import method
from analysis.methods.function.plan import FunctionPlan
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.models.open_model import OpenModel
from analysis.progress import silent
from analysis.relations.settings import default_ks
from analysis.results.scores import Scores
from analysis.results.store import Store


def computed(name: str, plan: Plan, checkpoint: Checkpoint, store: Store, device="cpu", progress=silent) -> Scores:
    """The result of a plan of the named method."""
    return compute(method(name), plan, OpenModel(checkpoint, device), store, progress)[0]


def count_hits(weights, query, layers, *, first_mlp=True, progress=silent):
    """The hits of some layers, from the weights alone and without controls."""
    from analysis.compute.hits import HitCounter, weights_inputs

    for layer, counts in HitCounter(weights_inputs(weights, query, first_mlp), controls=False).count(layers, progress):
        yield layer, counts.hits


def count_all(weights, query, layers, *, first_mlp=True, progress=silent):
    """The same with what they are compared with."""
    from analysis.compute.hits import HitCounter, weights_inputs

    yield from HitCounter(weights_inputs(weights, query, first_mlp)).count(layers, progress)


def function_plan(checkpoint: Checkpoint, relations, ks=None, first_mlp=True, layers=None) -> FunctionPlan:
    """The function map of some relations, with the published k unless other ones are given (copying, others)."""
    card = checkpoint.card
    copying, standard = ks or default_ks(card.vocabulary)
    return FunctionPlan(
        card=card,
        relations=tuple(relations),
        k_copying=copying,
        k_standard=standard,
        first_mlp=first_mlp,
        layers=tuple(layers or card.layers),
    )


def function_scores(checkpoint: Checkpoint, plan: FunctionPlan, store: Store, device="auto", progress=silent) -> Scores:
    """A function map."""
    return computed("function", plan, checkpoint, store, device, progress)


def causal_map(checkpoint: Checkpoint, plan: Plan, store: Store, device="cpu", progress=silent) -> Scores:
    """A causal map."""
    return computed("causal", plan, checkpoint, store, device, progress)


def salience(checkpoint: Checkpoint, head: HeadId, store: Store, first_mlp=True, device="cpu"):
    """One head's salient tokens, computed with its whole layer."""
    from analysis.methods.salience.tokens import salient_tokens

    one = method("salience")
    settings = one.settings(first_mlp=first_mlp, layers=[head.layer])
    return salient_tokens(computed("salience", one.plan(checkpoint.card, settings), checkpoint, store, device), head)


def asked(model: str, *methods: str, relations=(), tasks=(), contrast=None, **settings) -> Request:
    """A request for relations and tasks that are at hand: built-in ones by name, others as files."""
    values = {"model": model, "files": [], **settings}
    if methods:
        values["methods"] = list(methods)
    if relations:
        values["relations"] = []
    for relation in relations:
        _add(values, "relations", relation, relation_data.builtin(), relation_file)
    if tasks:
        values["tasks"] = []
    for task in tasks:
        _add(values, "tasks", task, task_data.builtin(), task_file)
    if contrast is not None:
        values["contrast"] = contrast_file(contrast)
    return make_request(values)


def _add(values, field, one, builtin, file) -> None:
    if builtin.get(one.name) == one:
        values[field].append(one.name)
    else:
        values["files"].append(file(one))


def relation_file(relation: Relation) -> dict[str, str]:
    """A relation as somebody would upload it."""
    sink = io.StringIO()
    csv.writer(sink).writerows(relation.pairs)
    return {"name": f"{relation.name}.csv", "content": sink.getvalue()}


def task_file(task: Task) -> dict[str, str]:
    """A task as somebody would upload it."""
    rows = [{"kind": i.kind, "prompt": i.prompt, "target": i.target} for i in (*task.train, *task.validation)]
    return {"name": f"{task.name}.jsonl", "content": "\n".join(json.dumps(row) for row in rows)}


def contrast_file(contrast: Contrast) -> dict[str, str]:
    """Pairs to contrast as somebody would upload them."""
    rows = []
    for forget, retain in zip(contrast.forget, contrast.retain, strict=True):
        sides = {"forget": forget, "retain": retain}
        rows.append({name: {"prompt": item.prompt, "target": item.target} for name, item in sides.items()})
    return {"name": f"{contrast.name}.jsonl", "content": "\n".join(json.dumps(row) for row in rows)}
