"""The command line: compute a map, inspect a head, list models, look after the cache.

Every method brings its own commands; this module names none of them.

Exit codes: 0 done · 1 unexpected · 2 wrong usage · 3 model · 4 relation · 5 head · 6 device · 7 store · 130 interrupted
(the numbers 3 to 9 stand beside the errors in `analysis.errors`).
"""

import argparse
import io
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from analysis import __version__, compared, listings, methods
from analysis.data import relations, tasks
from analysis.errors import HeadAtlasError, ModelNotFound, RelationError, SettingError, StoreError
from analysis.jobs.executor import compute
from analysis.jobs.request import Request, make_request
from analysis.methods.method import Command, Method
from analysis.methods.relation_pairs import HeadPairsStep, computed_pairs, relation_method, relation_methods
from analysis.models import builtin
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.models.opened import OpenModel
from analysis.models.sources import cached_models, fetched_models, open_model
from analysis.models.vocabulary import Vocabulary
from analysis.options import add_options, chosen_settings, names_and_files
from analysis.progress import ShownProgress
from analysis.results.catalogue import Catalogue
from analysis.results.inventory import add_model, forget_model, forget_stray_jobs, stored_models
from analysis.results.own_sets import OwnSet
from analysis.results.scores import Scores
from analysis.results.shipped import shipped
from analysis.results.store import Store, cache_folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the only place where errors become words and exit codes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an old terminal shows ? for → instead of failing
    options = _parser().parse_args(arguments)
    try:
        with closing(ShownProgress()) as progress:
            text = options.run(options, progress)
    except HeadAtlasError as error:
        _complain(error, options.json)
        return error.exit_code
    except KeyboardInterrupt:
        print("Stopped. What was finished is kept; the same command goes on from there.", file=sys.stderr)
        return 130
    return _say(text)


def _say(text: str) -> int:
    """Print, and survive a reader that has gone (`| head`) or a full disk behind `> file`."""
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more when it ends
        if not isinstance(error, BrokenPipeError):
            _complain(StoreError(f"the output cannot be written: {error.strerror}", "Check free space."), as_json=False)
            return StoreError.exit_code
    return 0


def _complain(error: HeadAtlasError, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"error": type(error).__name__, "message": str(error), "hint": error.hint}))
    else:
        print(f"error: {error}", file=sys.stderr)
        if error.hint:
            print(f"hint:  {error.hint}", file=sys.stderr)


# ---- The options -----------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m analysis", description="What every attention head of a model does."
    )
    parser.add_argument("--version", action="version", version=f"Head Atlas {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common, model = _common_options(), _model_options()
    for method in methods.METHODS:
        for command in method.commands:
            added = commands.add_parser(command.name, help=command.help, parents=[model, common])
            add_options(added, method, command)
            added.add_argument("--out", type=_out(method), metavar="FILE", help=f"write it to {_endings(method)}")
            added.set_defaults(run=_run_method, method=method, command=command)
    _add_head(commands, [model, common])
    _add_pairs(commands, [model, common])
    _add_lists(commands, [common])
    return parser


def _common_options() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON for scripts")
    return common


def _model_options() -> argparse.ArgumentParser:
    model = argparse.ArgumentParser(add_help=False)
    model.add_argument("model", metavar="MODEL", help=f"{builtin.ID}, a folder, a .gguf file, or a Hugging Face id")
    model.add_argument("--revision", help="branch, tag or commit on the Hugging Face hub")
    model.add_argument("--device", default="auto", help="cpu, cuda, cuda:1 … (default: a GPU when there is one)")
    return model


def _add_head(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
    """Inspect one head by the methods that are part of every analysis, with their options."""
    command = commands.add_parser("head", help="inspect one head", parents=parents)
    command.add_argument("head", metavar="HEAD", help="for example L10H7 or 10.7")
    fields: dict[str, None] = {}
    for method in methods.METHODS:
        if method.by_default:
            for name in method.commands[0].fields:
                if name != "layers" and name not in fields:
                    fields[name] = None
                    add_options(command, method, Command("head", "", (name,)))
    command.set_defaults(run=_head)


def _add_pairs(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
    """The pairs behind one score of one head."""
    names = [method.name for method in relation_methods()]
    command = commands.add_parser("pairs", help="the pairs behind a head's score for a relation", parents=parents)
    command.add_argument("head", metavar="HEAD", help="for example L10H7 or 10.7")
    command.add_argument("relation", metavar="NAME-or-FILE", help="a built-in relation, or a CSV or JSON file of pairs")
    command.add_argument("--method", choices=names, default=names[0], help="whose score (default: %(default)s)")
    command.add_argument("--suppress", action="store_true", help="what the head suppresses instead of promotes")
    command.add_argument(
        "--sample", default="", metavar="TEXT", help="of a method with several samples (default: first)"
    )
    command.add_argument("--k", type=int, metavar="N", help="targets among the k first are hits")
    command.add_argument("--out", type=_table_path, metavar="FILE", help="write it to FILE.csv")
    command.set_defaults(run=_pairs)


def _add_lists(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("models", help="list the models that can be opened or have results", parents=parents)
    command.set_defaults(run=_models)
    command = commands.add_parser(
        "compare", help="how far the weights-only map holds in the running model, model by model", parents=parents
    )
    command.add_argument("models", nargs="*", metavar="MODEL", help="only these (default: all that have both maps)")
    command.set_defaults(run=_compare)
    command = commands.add_parser(
        "relations",
        help="list the built-in relations by name; for a model, the pairs that its tokens keep",
        parents=parents,
    )
    command.add_argument("model", nargs="?", metavar="MODEL", help="count the pairs that this model's tokens keep")
    command.set_defaults(run=_relations)
    command = commands.add_parser("tasks", help="list the built-in tasks", parents=parents)
    command.set_defaults(run=_tasks)
    command = commands.add_parser("sets", help="relations that people brought: list, rename, hide …", parents=parents)
    command.add_argument("action", nargs="?", choices=["list", *_SET_ACTIONS], default="list")
    command.add_argument("set", nargs="?", metavar="SET", help="a set by its id or name")
    command.add_argument("name", nargs="?", metavar="NAME", help="rename: its new name")
    command.add_argument("--out", type=Path, metavar="FOLDER", help="pairs: where the CSV files go (default: here)")
    command.set_defaults(run=_sets)
    command = commands.add_parser("cache", help="size of the cache; prune it", parents=parents)
    command.add_argument("action", nargs="?", choices=["size", "prune"], default="size")
    command.add_argument("--model", help="prune: only results of this model (id or start of its fingerprint)")
    command.add_argument("--all", action="store_true", help="prune: everything, converted and fetched models too")
    command.set_defaults(run=_cache)


def _table_path(text: str) -> Path:
    """Reads the path of a CSV file."""
    return _checked_path(text, (".csv",))


def _endings(method: Method) -> str:
    return " or ".join(f"FILE{ending}" for ending in method.outputs)


def _out(method: Method) -> Any:
    """Reads the path of a file that a method can write."""

    def read(text: str) -> Path:
        return _checked_path(text, method.outputs)

    return read


def _checked_path(text: str, endings: tuple[str, ...]) -> Path:
    path = Path(text)
    if not path.name.lower().endswith(endings):
        raise argparse.ArgumentTypeError(f"the file must end in {' or '.join(endings)}")
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


# ---- Computing -------------------------------------------------------------------------------------------------------


def _run_method(options: argparse.Namespace, progress: ShownProgress) -> str:
    start = time.monotonic()
    method: Method = options.method
    settings = chosen_settings(options, method, options.command)
    request = make_request({"model": options.model, "methods": [method.name], **settings})
    request.asked()  # what makes no sense is refused before the model is opened
    with closing(Store(cache_folder() / "store")) as store:
        checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
        scores, stored = _computed(method, request, checkpoint, options.device, store, progress)
        progress.close()
    if options.out:
        _write(options.out, method, scores)
    facts = {
        "from_store": stored,
        "seconds": round(time.monotonic() - start, 2),
        "store": str(cache_folder() / "store"),
        "out": str(options.out) if options.out else None,
    }
    if options.json:
        return json.dumps({**method.report(scores), **facts})
    return f"{method.report_text(scores)}\n{_closing_line(facts)}"


def _computed(
    method: Method, request: Request, checkpoint: Checkpoint, device: str, store: Store, progress: ShownProgress
) -> tuple[Scores, bool]:
    """A method's result, and whether it was stored already."""
    plan = method.plan(checkpoint.card, request)
    scores, stored = compute(method, plan, OpenModel(checkpoint, device), store, progress)
    add_model(store, checkpoint.card)  # under the name by which it was opened this time
    return scores, stored


def _closing_line(facts: dict[str, Any]) -> str:
    written = f"written to {facts['out']}, " if facts["out"] else ""
    verb = "found in" if facts["from_store"] else "kept in"
    return f"{facts['seconds']:.1f} s; {written}{verb} the store {facts['store']}"


def _write(path: Path, method: Method, scores: Scores) -> None:
    """The result as a file; a CSV gets its provenance beside it."""
    ending = next(ending for ending in method.outputs if path.name.lower().endswith(ending))
    files = {path: method.exported(scores, ending)}
    if ending == ".csv":
        files[path.with_suffix(".provenance.json")] = scores.provenance.to_json().encode()
    _write_files(files)


def _write_files(files: dict[Path, bytes]) -> None:
    """Each whole or not at all."""
    for target, content in files.items():
        part = target.with_name(f".{target.name}.part")
        try:
            part.write_bytes(content)
            part.replace(target)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise StoreError(
                f"{target} cannot be written: {error.strerror}", "Check free space and permissions."
            ) from error


def _head(options: argparse.Namespace, progress: ShownProgress) -> str:
    wanted = HeadId.parse(options.head)
    chosen = [method for method in methods.METHODS if method.by_default]
    settings: dict[str, Any] = {}
    for method in chosen:
        fields = tuple(name for name in method.commands[0].fields if name != "layers")
        settings |= chosen_settings(options, method, Command("head", "", fields))
    request = make_request({"model": options.model, "methods": [method.name for method in chosen], **settings})
    with closing(Store(cache_folder() / "store")) as store:
        results = {} if settings or options.revision else _finished(options.model, wanted, chosen, store)
        if not results:
            checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
            head = checkpoint.card.check(wanted)
            for method in chosen:
                asked = method.for_head(request, head)
                results[method], _ = _computed(method, asked, checkpoint, options.device, store, progress)
        progress.close()
    card = results[chosen[0]].provenance.model
    head = card.check(wanted)
    if not options.json:
        lines = [f"{head} of {card.id} {card.revision[:12]}"]
        for method, scores in results.items():
            lines += ["", *method.head_text(scores, head)]
        return "\n".join(line.rstrip() for line in lines)
    data = {"model": card.to_dict(), "head": str(head), "heads": len(card.layers) * card.heads}
    for method, scores in results.items():
        data |= method.head(scores, head)
    return json.dumps(data)


def _finished(model: str, head: HeadId, chosen: list[Method], store: Store) -> dict[Method, Scores]:
    """What is known of a head of a model by its name, if that is all of it: it need not be computed again."""
    catalogue = Catalogue(store)
    try:
        card = catalogue.card(model)
    except ModelNotFound:
        return {}
    card.check(head)
    results = {}
    for method in chosen:
        scores = catalogue.result(card, method.name)
        if scores is not None and not scores.score.sel(layer=head.layer, head=head.head).isnull().all():
            results[method] = scores
    return results if len(results) == len(chosen) else {}


def _pairs(options: argparse.Namespace, progress: ShownProgress) -> str:
    method, wanted = relation_method(options.method), HeadId.parse(options.head)
    names, files = names_and_files([options.relation])
    settings: dict[str, Any] = {"relations": names, "files": files, "layers": [wanted.layer]}
    if options.k is not None:
        settings |= {"k": options.k, "k_copying": options.k}
    request = make_request({"model": options.model, "methods": [method.name], **settings})
    request.asked()  # what makes no sense is refused before the model is opened
    kind = "suppress" if options.suppress else "promote"
    with closing(Store(cache_folder() / "store")) as store:
        checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
        head = checkpoint.card.check(wanted)
        step = HeadPairsStep.of(method.plan(checkpoint.card, request), head, kind, options.sample)
        found = computed_pairs(step, OpenModel(checkpoint, options.device), store, progress)
        progress.close()
    if not found.pairs:
        hint = "`python -m analysis relations MODEL` says which relations have any."
        raise RelationError(f"no pair of {found.title} is made of single tokens of this model", hint)
    if options.out:
        _write_files({options.out: found.to_frame().to_csv(index=False).encode()})
    return json.dumps(found.to_plain()) if options.json else found.to_text()


# ---- Listing ---------------------------------------------------------------------------------------------------------


def _models(options: argparse.Namespace, progress: ShownProgress) -> str:
    with closing(Store(cache_folder() / "store")) as store:
        ours = [result.scores.provenance.model for result in shipped()]
        cards = {(card.id, card.fingerprint): card for card in (*ours, *stored_models(store))}
        results = Counter(card.fingerprint for card in ours)
        results.update(key.split("/")[1] for key in store.names("result/"))
    names = {card.id for card in cards.values()}
    data: list[dict[str, Any]] = []
    for card in cards.values():
        data.append({**card.to_dict(), "results": results[card.fingerprint]})
    for name in (builtin.ID, *fetched_models(cache_folder()), *cached_models()):
        if name not in names:
            data.append({"id": name, "results": 0})
    return json.dumps(data) if options.json else listings.models_text(data)


def _compare(options: argparse.Namespace, progress: ShownProgress) -> str:
    with closing(Store(cache_folder() / "store")) as store:
        rows = compared.compared_models(Catalogue(store), options.models)
    return json.dumps(rows) if options.json else compared.compared_text(rows)


def _relations(options: argparse.Namespace, progress: ShownProgress) -> str:
    kept = _kept_pairs(options.model, progress) if options.model else {}
    data = []
    for relation in relations.builtin().values():
        data.append(
            {
                "name": relation.name,
                "category": relation.category,
                "title": relation.title,
                "sentence": relation.sentence,
                "pairs": len(relation.pairs),
                **kept.get(relation.name, {}),
            }
        )
    if options.json:
        return json.dumps(data)
    return listings.kept_text(data) if options.model else listings.relations_text(data)


def _kept_pairs(model: str, progress: ShownProgress) -> dict[str, dict[str, int]]:
    """Of each relation the pairs of single tokens, and those that sources of several tokens add."""
    checkpoint = open_model(model, None, cache_folder(), progress)
    vocabulary, size = Vocabulary.open(checkpoint.folder), checkpoint.card.vocabulary
    counts = {}
    for relation in relations.builtin().values():
        single = len(vocabulary.keep(relation, size))
        counts[relation.name] = {"kept": single, "added": len(vocabulary.keep_several(relation, size)) - single}
    progress.close()
    return counts


def _tasks(options: argparse.Namespace, progress: ShownProgress) -> str:
    data = []
    for task in tasks.builtin().values():
        data.append(
            {
                "name": task.name,
                "title": task.title,
                "sentence": task.sentence,
                "kinds": list(task.kinds),
                "train": len(task.train),
                "validation": len(task.validation),
                "example": task.train[0].prompt,
                "target": task.train[0].target,
            }
        )
    return json.dumps(data) if options.json else listings.tasks_text(data)


_SET_ACTIONS = ("rename", "hide", "show", "pairs", "delete")


def _sets(options: argparse.Namespace, progress: ShownProgress) -> str:
    """Look after the relations that people brought."""
    with closing(Store(cache_folder() / "store")) as store:
        catalogue = Catalogue(store)
        if options.action != "list":
            if options.set is None or (options.name is None) == (options.action == "rename"):
                raise SettingError("which set?", "Write: sets rename SET NAME, or sets hide|show|pairs|delete SET")
            _change_set(options, catalogue, catalogue.own_set(options.set))
        data = [_told_set(one) for one in catalogue.sets()]
    return json.dumps(data) if options.json else listings.sets_text(data)


def _change_set(options: argparse.Namespace, catalogue: Catalogue, one: OwnSet) -> None:
    match options.action:
        case "rename":
            catalogue.change_set(one, name=options.name)
        case "hide" | "show":
            catalogue.change_set(one, hidden=options.action == "hide")
        case "delete":
            catalogue.delete_set(one)
        case "pairs":
            files = {}
            for item in one.items:
                rows = relations.as_csv(catalogue.own_pairs(item))
                files[(options.out or Path()) / f"{item.name}.csv"] = rows.encode()
            _write_files(files)


def _told_set(one: OwnSet) -> dict[str, Any]:
    names = [item.name for item in one.items]
    return {"id": one.id, "name": one.name, "hidden": one.hidden, "relations": names, "models": list(one.models)}


def _cache(options: argparse.Namespace, progress: ShownProgress) -> str:
    folder, pruned = cache_folder(), 0
    if options.action != "prune" and (options.all or options.model is not None):
        raise SettingError("--all and --model go with prune", "Write: cache prune --all")
    if options.all:  # without opening the store: it may be damaged, or the disk full
        shutil.rmtree(folder / "store", ignore_errors=True)
        shutil.rmtree(folder / "models", ignore_errors=True)
        shutil.rmtree(folder / "gallery", ignore_errors=True)
    with closing(Store(folder / "store")) as store:
        if options.action == "prune":
            pruned = _prune(store, options.model)
        data = {
            "folder": str(folder),
            "store_bytes": store.size(),
            "entries": sum(1 for _ in store.names()),
            "pruned": pruned,
            "models_bytes": _size(folder / "models") + _size(folder / "gallery"),
        }
    return json.dumps(data) if options.json else listings.cache_text(data)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _prune(store: Store, model: str | None) -> int:
    """Without a model: parts of results, damaged entries and jobs that left nothing. With one: all that is of it."""
    if model is None:
        stale = [key for key in store.names() if key.startswith("unit/") or store.get(key) is None]
        for key in stale:
            store.delete(key)
        return len(stale) + forget_stray_jobs(store)
    chosen = [card for card in stored_models(store) if model in (card.id, card.fingerprint[: max(len(model), 6)])]
    if not chosen:
        raise SettingError(f"the store has no results of {model!r}", "`python -m analysis models` lists them.")
    return sum(forget_model(store, card.fingerprint) for card in chosen)
