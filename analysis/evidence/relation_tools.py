"""Commands of all methods that score relations: the pairs behind a score, models side by side, relations."""

import argparse
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from analysis.data import relations
from analysis.data.relations import FLOOR
from analysis.errors import RelationError, SettingError
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.comparison import compared_models, compared_text
from analysis.evidence.shipped import shipped_card
from analysis.jobs.request import Request, make_request
from analysis.method import Tool
from analysis.methods import relation_method, relation_methods
from analysis.models.card import HeadId, ModelCard
from analysis.models.checkpoint import Checkpoint
from analysis.models.open_model import OpenModel
from analysis.models.sources import open_model
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary
from analysis.options import names_and_files
from analysis.output import checked_path, write_files
from analysis.progress import ShownProgress
from analysis.relations.head_pairs import HeadPairs
from analysis.relations.method import RelationMethod
from analysis.relations.pairs import HeadPairsStep, computed_pairs
from analysis.relations.pairs_file import ENDING, shipped_pairs, to_parquet
from analysis.relations.told_pairs import told_pairs
from analysis.results.provenance import JsonObject, PlainValues
from analysis.results.store import Store, cache_folder
from analysis.results.tables import csv_bytes

# ---- The pairs behind a score ----------------------------------------------------------------------------------------


def _pairs_options(command: argparse.ArgumentParser) -> None:
    names = [method.name for method in relation_methods()]
    command.add_argument("head", metavar="HEAD", nargs="?", help="for example L10H7 or 10.7")
    command.add_argument(
        "relation", metavar="NAME-or-FILE", nargs="?", help="a built-in relation, or a CSV or JSON file of pairs"
    )
    command.add_argument("--method", choices=names, help="which map's score (default: the map that holds)")
    command.add_argument("--suppress", action="store_true", help="what the head suppresses rather than promotes")
    command.add_argument(
        "--sample", default="", metavar="TEXT", help="which sample, if there are several (default: first)"
    )
    command.add_argument(
        "--least",
        type=float,
        default=FLOOR,
        metavar="SCORE",
        help=f"without HEAD: of scores that reach this with some carrier (default: {FLOOR})",
    )
    command.add_argument("--k", type=int, metavar="N", help="targets among the first k are hits")
    command.add_argument(
        "--out",
        type=_table_path,
        metavar="FILE",
        help="write it to FILE.csv; without HEAD, the pairs of all such scores to FILE.pairs.parquet",
    )


def _table_path(text: str) -> Path:
    """Reads the path of a table."""
    return checked_path(text, (".csv", ENDING))


def _pairs(options: argparse.Namespace, progress: ShownProgress) -> str:
    if options.relation is None or str(options.out or "").endswith(ENDING):
        return _all_pairs(options, progress)
    wanted = HeadId.parse(options.head)
    _request(options, relation_methods()[0], wanted)  # impossible settings are refused before the model is opened
    pairs = _head_pairs(options, wanted, progress)
    if not pairs.pairs:
        hint = "`python -m analysis relations MODEL` says which relations have any."
        raise RelationError(f"no pair of {pairs.title} is made of single tokens of this model", hint)
    if options.out:
        write_files({options.out: csv_bytes(pairs.to_frame())})
    if options.json:
        return json.dumps(pairs.to_plain())
    return pairs.to_text(relation_method(pairs.method).basis.lower())


def _request(options: argparse.Namespace, method: RelationMethod, wanted: HeadId) -> Request:
    """The head's layer of a map."""
    names, files = names_and_files([options.relation])
    settings: JsonObject = {"relations": names, "files": files, "layers": [wanted.layer]}
    if options.k is not None:
        settings |= {"k": options.k, "k_copying": options.k}
    request = make_request({"model": options.model, "methods": [method.name], **settings})
    request.asked()
    return request


def _head_pairs(options: argparse.Namespace, wanted: HeadId, progress: ShownProgress) -> HeadPairs:
    """As they come with the project, for which no weights are needed, from the store, or computed."""
    kind = "suppress" if options.suppress else "promote"
    with closing(Store(cache_folder() / "store")) as store:
        catalogue = Catalogue(store)

        def step(card: ModelCard) -> HeadPairsStep:
            by_default = catalogue.default_method(card, options.relation, among=relation_methods())
            method = relation_method(options.method or by_default.name)
            request = _request(options, method, wanted)
            return HeadPairsStep.of(method.plan(card, request), card.check(wanted), kind, options.sample)

        card = None if options.revision else shipped_card(options.model)
        shipped = None if card is None else shipped_pairs(step(card).key)
        if shipped is not None:
            return shipped
        checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
        pairs = computed_pairs(step(checkpoint.card), OpenModel(checkpoint, options.device), store, progress)
    progress.close()
    return pairs


def _all_pairs(options: argparse.Namespace, progress: ShownProgress) -> str:
    """The pairs behind every score of the default methods' maps from the floor on, as they come with the project."""
    if options.head is not None or not str(options.out or "").endswith(ENDING):
        raise SettingError(
            "a head and a relation must both be given",
            f"For the pairs of all scores give neither, and --out FILE{ENDING}.",
        )
    answers: list[tuple[str, HeadPairs]] = []
    with closing(Store(cache_folder() / "store")) as store:
        checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
        catalogue, model = Catalogue(store), OpenModel(checkpoint, options.device)
        for method in relation_methods():
            scores = catalogue.result(checkpoint.card, method.name, own="") if method.by_default else None
            if scores is not None:
                answers += told_pairs(method, scores, model, progress, options.least)
        progress.close()
    write_files({options.out: to_parquet(answers)})
    return f"{len(answers)} lists of pairs in {options.out}"


# ---- Models side by side ---------------------------------------------------------------------------------------------


def _compare_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("models", nargs="*", metavar="MODEL", help="only these (default: all that have both maps)")
    command.add_argument(
        "--relations", action="store_true", help="also print a table of correlations for every relation"
    )


def _compare(options: argparse.Namespace, progress: ShownProgress) -> str:
    with closing(Store(cache_folder() / "store")) as store:
        rows = compared_models(Catalogue(store), options.models)
    return json.dumps(rows) if options.json else compared_text(rows, options.relations)


# ---- The list of relations -------------------------------------------------------------------------------------------


def _relations_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "models", nargs="*", metavar="MODEL", help="count the pairs that the tokens of these models keep"
    )


def _relations(options: argparse.Namespace, progress: ShownProgress) -> str:
    counts = {}
    for model in options.models:
        checkpoint = open_model(model, None, cache_folder(), progress)
        counts[checkpoint.card.id] = _kept_pairs(checkpoint)
    progress.close()
    data = []
    for relation in relations.builtin().values():
        row: JsonObject = {
            "name": relation.name,
            "category": relation.category,
            "title": relation.title,
            "sentence": relation.sentence,
            "pairs": len(relation.pairs),
        }
        if counts:
            row["models"] = {model: kept[relation.name] for model, kept in counts.items()}
        if len(counts) == 1:
            row |= next(iter(row["models"].values()))  # one model's counts also stand in the row itself
        data.append(row)
    if options.json:
        return json.dumps(data)
    return _kept_text(data) if counts else _relations_text(data)


def _kept_pairs(checkpoint: Checkpoint) -> dict[str, dict[str, int]]:
    """For each relation, its pairs of single tokens, and those that sources of several tokens add."""
    vocabulary, size = Vocabulary.open(checkpoint.folder), checkpoint.card.vocabulary
    counts = {}
    for relation in relations.builtin().values():
        single = len(vocabulary.keep(relation, size))
        counts[relation.name] = {"kept": single, "added": len(vocabulary.keep_several(relation, size)) - single}
    return counts


def _relations_text(relations: Sequence[PlainValues]) -> str:
    """One relation per line, by the name that the command line takes."""
    lines = []
    for relation in relations:
        start = f"{relation['category']:12} {relation['name']:22} {relation['pairs']:5} pairs"
        lines.append(f"{start}  {relation['sentence']}")
    return "\n".join(lines)


def _kept_text(relations: Sequence[JsonObject]) -> str:
    """A table for a terminal that is also Markdown: a line per relation, a column per model, single tokens + added."""
    models = list(relations[0]["models"])
    lines = [f"| relation | pairs | {' | '.join(models)} |", f"|---|---|{'---|' * len(models)}"]
    for relation in relations:
        cells = [_kept_cell(**relation["models"][model]) for model in models]
        lines.append(f"| {relation['title']} | {relation['pairs']} | {' | '.join(cells)} |")
    lines += ["", "Pairs of single tokens + those that sources of several tokens add."]
    lines += [f"(n/a): fewer than {MIN_PAIRS} with both, not applicable."]
    return "\n".join(lines)


def _kept_cell(kept: int, added: int) -> str:
    too_few = kept + added < MIN_PAIRS
    return f"{kept} + {added} (n/a)" if too_few else f"{kept} + {added}"


TOOLS = (
    Tool(
        name="pairs",
        help="the pairs behind a head's score for a relation",
        run=_pairs,
        add_options=_pairs_options,
        of_model=True,
    ),
    Tool(
        name="compare",
        help="how far the weights-only map holds in the running model, model by model",
        run=_compare,
        add_options=_compare_options,
    ),
    Tool(
        name="relations",
        help="list the built-in relations by name; for models, the pairs that their tokens keep",
        run=_relations,
        add_options=_relations_options,
    ),
)
