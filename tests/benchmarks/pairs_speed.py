"""How long people wait for the pairs behind a score that does not ship, in a worker that has the model open.

Asked of the default model, both maps, a small relation, a usual one and the largest: the first question about a
relation (a head half-way up), which runs the model for it, a second one about another head, and one about a head above.
"""

import time
from pathlib import Path

from analysis.data import relations
from analysis.jobs.request import make_request
from analysis.methods import relation_method
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.models.open_model import OpenModel
from analysis.progress import silent
from analysis.relations.pairs import HeadPairsStep

RELATIONS = ("country_capital", "verb_past", "copying")
BASES = ("function", "running")


def seconds(model: OpenModel, method: str, relation: str, head: HeadId) -> tuple[float, int]:
    """How long one question takes, and how many pairs the answer has."""
    request = make_request(
        {"model": model.checkpoint.card.id, "methods": [method], "relations": [relation], "layers": [head.layer]}
    )
    step = HeadPairsStep.of(relation_method(method).plan(model.checkpoint.card, request), head, "promote")
    start = time.perf_counter()
    ((_, content),) = step.run(model, silent)
    return time.perf_counter() - start, content.count(b'"hit"')


def table(folder: Path) -> str:
    """Seconds per question."""
    checkpoint = Checkpoint.open(folder)
    layers, heads = len(checkpoint.card.layers), checkpoint.card.heads
    first, second = HeadId(layers // 2, 0), HeadId(layers // 2, heads - 1)
    above = HeadId(layers - 1, 0)
    model = OpenModel(checkpoint, "cpu")
    for method in BASES:
        seconds(model, method, "adjective_superlative", above)  # opens the weights
    lines = [
        "| map | relation | pairs | first question | another head | a head above | the same again |",
        "|---|---|---|---|---|---|---|",
    ]
    for method in BASES:
        for relation in RELATIONS:
            times = []
            for head in (first, second, above, above):
                taken, pairs = seconds(model, method, relation, head)
                times.append(f"{taken:.2f} s")
            title = relations.builtin()[relation].title
            lines.append(f"| {method} | {title} | {pairs} | {' | '.join(times)} |")
    return "\n".join(lines)
