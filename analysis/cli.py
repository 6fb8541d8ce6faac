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

from analysis import __version__, listings, methods
from analysis.data.relations import as_csv
from analysis.errors import HeadAtlasError, ModelNotFound, SettingError, StoreError
from analysis.evidence.agreement import agreement_lines, agreements, chosen_thresholds, replacements
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.heads import answers, head_evidence, heads_like, remark, results_of, strongest_findings, summary
from analysis.evidence.relation_tools import TOOLS
from analysis.evidence.shipped import shipped
from analysis.jobs.engine import Engine
from analysis.jobs.executor import compute
from analysis.jobs.request import Request, make_request
from analysis.method import Method
from analysis.models import builtin, gguf
from analysis.models.card import HeadId, ModelCard
from analysis.models.checkpoint import Checkpoint
from analysis.models.open_model import OpenModel
from analysis.models.sources import cached_models, fetched_models, open_model
from analysis.options import Command, add_options, chosen_settings
from analysis.output import checked_path, write_files
from analysis.progress import ShownProgress
from analysis.prompt.question import ABLATE, INSTEAD, MAX_TOKENS, POSITIONS, PromptQuestion, computed_answer
from analysis.prompt.reading import reading_data, reading_text
from analysis.results.inventory import add_model, forget_model, forget_stray_jobs, stored_models
from analysis.results.own_sets import OwnSet
from analysis.results.provenance import JsonObject
from analysis.results.scores import OVER_SAMPLES, Scores, check_sample
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
        print("Stopped. Finished work is kept; run the same command again to resume.", file=sys.stderr)
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
            add_options(added, method.settings, command)
            added.add_argument(
                "--out", type=_out(method), metavar="FILE", help=f"write the result to {_endings(method)}"
            )
            if method.samples_alike:
                _add_over(added)
            added.set_defaults(run=_run_method, method=method, command=command)
    _add_head(commands, [model, common])
    _add_search(commands, [common])
    _add_agreement(commands, [common])
    _add_prompt(commands, [model, common])
    _add_tools(commands, model, common)
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
    model.add_argument("--device", default="auto", help="cpu, cuda, cuda:1 … (default: a GPU if there is one)")
    return model


def _add_head(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
    """Inspect one head by the methods that are part of every analysis, with their options."""
    command = commands.add_parser("head", help="inspect one head", parents=parents)
    command.add_argument("head", metavar="HEAD", help="for example L10H7 or 10.7")
    fields: dict[str, None] = {}
    for method in methods.METHODS:
        if method.by_default:
            for name in method.head_fields():
                if name not in fields:
                    fields[name] = None
                    add_options(command, method.settings, Command("head", "", (name,)))
    _add_over(command)
    command.set_defaults(run=_head)


def _add_over(command: argparse.ArgumentParser) -> None:
    """How the printed scores are made of those of several samples; a file has all of them."""
    words = f"print scores by {', '.join(OVER_SAMPLES)}, or one sample (default: %(default)s)"
    command.add_argument("--over", default=OVER_SAMPLES[0], metavar="HOW", help=words)


def _add_search(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
    """Find heads by what is known of them."""
    command = commands.add_parser("search", help="find heads: capital, Paris, suppress, L23H4 …", parents=parents)
    command.add_argument("model", metavar="MODEL", help="a model that has results")
    command.add_argument("words", nargs="+", metavar="WORD")
    command.set_defaults(run=_search)


def _add_agreement(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
    """Hold what heads do against whether they matter."""
    words = "how many heads with a label also matter for a task"
    command = commands.add_parser("agreement", help=words, parents=parents)
    command.add_argument("model", metavar="MODEL", help="a model that has results")
    command.add_argument(
        "--threshold",
        nargs="+",
        default=[],
        metavar="METHOD=NUMBER",
        help="minimum strength that counts as a label, one or several (default: the method's own)",
    )
    command.add_argument("--beyond", action="store_true", help="count labels beyond copying alone")
    command.add_argument(
        "--replaced",
        choices=replacements(),
        default="",
        help="what stands in the place of an ablated head where its cause is decided "
        f"(default: {replacements()[0]}; both: the change that zero and mean agree on)",
    )
    command.add_argument("--heads", action="store_true", help="name the heads of each class")
    command.set_defaults(run=_agreement)


def _add_tools(commands: Any, model: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """What is asked about all maps for relations, and what the methods offer besides computing."""
    tools = {tool.name: tool for tool in TOOLS}
    for method in methods.METHODS:
        tools |= {tool.name: tool for tool in method.tools()}  # several may share a tool
    for tool in tools.values():
        parents = [model, common] if tool.of_model else [common]
        command = commands.add_parser(tool.name, help=tool.help, parents=parents)
        tool.add_options(command)
        command.set_defaults(run=tool.run)


def _add_prompt(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
    """A text of one's own."""
    command = commands.add_parser(
        "prompt", help="read a text: where heads look, the next token, which heads matter for it", parents=parents
    )
    command.add_argument("text", metavar="TEXT", help=f"at most {MAX_TOKENS} tokens")
    command.add_argument("--head", nargs="+", default=[], metavar="HEAD", help="heads whose attention is shown")
    command.add_argument(
        "--ablate",
        choices=POSITIONS,
        default=ABLATE,
        help="switch every head off at all tokens, at the last one, or not at all (default: %(default)s)",
    )
    command.add_argument(
        "--instead",
        choices=INSTEAD,
        default=INSTEAD[0],
        help="what replaces its output: zero, or its mean over the tokens (default: %(default)s)",
    )
    command.set_defaults(run=_prompt)


def _add_lists(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("models", help="list the models that can be opened or have results", parents=parents)
    command.set_defaults(run=_models)
    command = commands.add_parser("sets", help="sets of your own relations: list, rename, hide …", parents=parents)
    command.add_argument("action", nargs="?", choices=["list", *_SET_ACTIONS], default="list")
    command.add_argument("set", nargs="?", metavar="SET", help="a set by its id or name")
    command.add_argument("name", nargs="?", metavar="NAME", help="rename: its new name")
    command.add_argument("--out", type=Path, metavar="FOLDER", help="pairs: where the CSV files go (default: here)")
    command.set_defaults(run=_sets)
    command = commands.add_parser("jobs", help="list the jobs; delete finished ones", parents=parents)
    command.add_argument("--delete", nargs="+", default=[], metavar="ID", help="delete these; their results stay")
    command.set_defaults(run=_jobs)
    command = commands.add_parser("cache", help="size of the cache; prune it", parents=parents)
    command.add_argument("action", nargs="?", choices=["size", "prune"], default="size")
    command.add_argument("--model", help="prune: only results of this model (id or start of its fingerprint)")
    command.add_argument("--all", action="store_true", help="prune: everything, including converted and fetched models")
    command.set_defaults(run=_cache)


def _endings(method: Method) -> str:
    return " or ".join(f"FILE{ending}" for ending in method.outputs)


def _out(method: Method) -> Any:
    """Reads the path of a file that a method can write."""

    def read(text: str) -> Path:
        return checked_path(text, method.outputs)

    return read


# ---- Computing -------------------------------------------------------------------------------------------------------


def _run_method(options: argparse.Namespace, progress: ShownProgress) -> str:
    start = time.monotonic()
    method: Method = options.method
    settings = chosen_settings(options, method.settings, options.command)
    request = make_request({"model": options.model, "methods": [method.name], **settings})
    request.asked()  # impossible settings are refused before the model is opened
    with closing(Store(cache_folder() / "store")) as store:
        checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
        scores, stored = _computed(method, request, checkpoint, options.device, store, progress)
        judged, remark = method.judgement(options.model, results_of(Catalogue(store), checkpoint.card), methods.METHODS)
        progress.close()
    if options.out:
        _write(options.out, method, scores)
    if method.samples_alike:
        check_sample(options.over, [scores])
        scores = method.over(scores, options.over)
    facts = {
        "from_store": stored,
        "seconds": round(time.monotonic() - start, 2),
        "store": str(cache_folder() / "store"),
        "out": str(options.out) if options.out else None,
    }
    if options.json:
        return json.dumps({**method.report(scores), **judged, **facts})
    lines = [method.report_text(scores), remark, _closing_line(facts)]
    return "\n".join(line for line in lines if line)


def _computed(
    method: Method, request: Request, checkpoint: Checkpoint, device: str, store: Store, progress: ShownProgress
) -> tuple[Scores, bool]:
    """A method's result, and whether it was stored already."""
    plan = method.plan(checkpoint.card, request)
    scores, stored = compute(method, plan, OpenModel(checkpoint, device), store, progress)
    add_model(store, checkpoint.card)  # under the name by which it was opened this time
    return scores, stored


def _closing_line(facts: JsonObject) -> str:
    written = f"written to {facts['out']}, " if facts["out"] else ""
    verb = "found in" if facts["from_store"] else "kept in"
    return f"{facts['seconds']:.1f} s; {written}{verb} the store {facts['store']}"


def _write(path: Path, method: Method, scores: Scores) -> None:
    """The result as a file; a CSV gets its provenance beside it."""
    ending = next(ending for ending in method.outputs if path.name.lower().endswith(ending))
    files = {path: method.exported(scores, ending)}
    if ending == ".csv":
        files[path.with_suffix(".provenance.json")] = scores.provenance.to_json().encode()
    write_files(files)


def _head(options: argparse.Namespace, progress: ShownProgress) -> str:
    wanted = HeadId.parse(options.head)
    chosen = [method for method in methods.METHODS if method.by_default]
    settings: JsonObject = {}
    for method in chosen:
        settings |= chosen_settings(options, method.settings, Command("head", "", method.head_fields()))
    request = make_request({"model": options.model, "methods": [method.name for method in chosen], **settings})
    with closing(Store(cache_folder() / "store")) as store:
        catalogue = Catalogue(store)
        results = {} if settings or options.revision else _finished(options.model, wanted, chosen, catalogue)
        if not results:
            checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
            head = checkpoint.card.check(wanted)
            results = results_of(catalogue, checkpoint.card)
            for method in chosen:
                asked = method.for_head(request, head)
                results[method.name], _ = _computed(method, asked, checkpoint, options.device, store, progress)
        progress.close()
    card = results[chosen[0].name].provenance.model
    head = card.check(wanted)
    there = [method for method in methods.METHODS if method.name in results]
    check_sample(options.over, [results[method.name] for method in there if method.samples_alike])
    shown = {method: method.over(results[method.name], options.over) for method in there}
    if not options.json:
        return _head_text(card, head, results, shown)
    data = {"model": card.to_dict(), "head": str(head), "heads": len(card.layers) * card.heads}
    for method, scores in shown.items():
        data |= method.head(scores, head)
    return json.dumps(data | head_evidence(results, card, head))


def _head_text(card: ModelCard, head: HeadId, results: dict[str, Scores], shown: dict[Method, Scores]) -> str:
    """What all results say about a head: in one paragraph, then each method's own lines, as `--over` asks."""
    lines = [f"{head} of {card.id} {card.revision[:12]}", "", summary(results, head)]
    for method, scores in shown.items():
        lines += ["", *method.head_text(scores, head)]
        said = remark(method, results)
        lines += [f"  {said}"] if said else []
    lines += ["", "similar heads, by the cosine of all their scores (and the two that add most to it)"]
    for other in heads_like(results, card, head):
        findings = strongest_findings(results, other.head)
        by = f"({' · '.join(other.by)})"
        lines.append(f"  {other.head!s:8} {other.cosine:.2f}  {by}  {findings[0].text if findings else ''}")
    return "\n".join(line.rstrip() for line in lines)


def _finished(model: str, head: HeadId, chosen: list[Method], catalogue: Catalogue) -> dict[str, Scores]:
    """What is known of a model by its name, if it has the head by all chosen methods: none need be computed again."""
    try:
        card = catalogue.card(model)
    except ModelNotFound:
        return {}
    card.check(head)
    results = results_of(catalogue, card)
    for method in chosen:
        scores = results.get(method.name)
        if scores is None or bool(scores.score.sel(layer=head.layer, head=head.head).isnull().all()):
            return {}
    return results


def _search(options: argparse.Namespace, progress: ShownProgress) -> str:
    text = " ".join(options.words)
    with closing(Store(cache_folder() / "store")) as store:
        catalogue = Catalogue(store)
        card = catalogue.card(options.model)
        ranked = answers(results_of(catalogue, card), card, text)
    if options.json:
        return json.dumps([answer.to_plain() for answer in ranked])
    return listings.answers_text(card, text, ranked)


def _agreement(options: argparse.Namespace, progress: ShownProgress) -> str:
    least = chosen_thresholds(options.threshold)
    with closing(Store(cache_folder() / "store")) as store:
        catalogue = Catalogue(store)
        card = catalogue.card(options.model)
        listed = agreements(results_of(catalogue, card), least, options.beyond, options.replaced)
    if options.json:
        return json.dumps([each.to_plain(options.heads) for each in listed])
    if not listed:
        return f"{card.id} has no results to compare: it needs a map of what heads do and one of whether they matter."
    return "\n".join(agreement_lines(listed, options.heads))


def _prompt(options: argparse.Namespace, progress: ShownProgress) -> str:
    heads = tuple(HeadId.parse(head) for head in options.head)
    question = PromptQuestion(options.text, heads, options.ablate, options.instead)
    question.check()  # impossible settings are refused before the model is opened
    with closing(Store(cache_folder() / "store")) as store:
        checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
        answer = computed_answer(question, OpenModel(checkpoint, options.device), store, progress)
        progress.close()
    if not options.json:
        return reading_text(*answer)
    return json.dumps({"model": checkpoint.card.to_dict(), **reading_data(*answer)})


# ---- Listing ---------------------------------------------------------------------------------------------------------


def _models(options: argparse.Namespace, progress: ShownProgress) -> str:
    cards: dict[tuple[str, str], ModelCard] = {}
    results: Counter[str] = Counter()
    for result in shipped():
        card = result.scores.provenance.model
        cards[card.id, card.fingerprint] = card
        results[card.fingerprint] += 1
    with closing(Store(cache_folder() / "store")) as store:
        for card in stored_models(store):
            cards[card.id, card.fingerprint] = card
        for key in store.names("result/"):
            results[key.split("/")[1]] += 1
    names = {card.id for card in cards.values()}
    data: list[JsonObject] = []
    for card in cards.values():
        data.append({**card.to_dict(), "results": results[card.fingerprint]})
    for name in (builtin.ID, *fetched_models(cache_folder()), *cached_models()):
        if name not in names:
            data.append({"id": name, "results": 0})
    return json.dumps(data) if options.json else listings.models_text(data)


def _jobs(options: argparse.Namespace, progress: ShownProgress) -> str:
    with closing(Store(cache_folder() / "store")) as store:
        engine = Engine(store)
        for job_id in options.delete:
            engine.delete(job_id)
        data = [job.to_plain() for job in engine.jobs()]
    return json.dumps(data) if options.json else listings.jobs_text(data)


_SET_ACTIONS = ("rename", "hide", "show", "pairs", "delete")


def _sets(options: argparse.Namespace, progress: ShownProgress) -> str:
    """Look after the relations that people brought."""
    with closing(Store(cache_folder() / "store")) as store:
        catalogue = Catalogue(store)
        if options.action != "list":
            if options.set is None or (options.name is None) == (options.action == "rename"):
                raise SettingError("which set?", "Write: sets rename SET NAME, or sets hide|show|pairs|delete SET")
            _change_set(options, catalogue, catalogue.own_set(options.set))
        data = [_set_data(one) for one in catalogue.sets()]
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
                rows = as_csv(catalogue.own_pairs(item))
                files[(options.out or Path()) / f"{item.name}.csv"] = rows.encode()
            write_files(files)


def _set_data(one: OwnSet) -> JsonObject:
    names = [item.name for item in one.items]
    return {"id": one.id, "name": one.name, "hidden": one.hidden, "relations": names, "models": list(one.models)}


def _cache(options: argparse.Namespace, progress: ShownProgress) -> str:
    folder, pruned = cache_folder(), 0
    if options.action != "prune" and (options.all or options.model is not None):
        raise SettingError("--all and --model only work with prune", "Write: cache prune --all")
    if options.all:  # without opening the store: it may be damaged, or the disk full
        shutil.rmtree(folder / "store", ignore_errors=True)
        shutil.rmtree(folder / "models", ignore_errors=True)
        shutil.rmtree(folder / gguf.RECORDS, ignore_errors=True)
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
        raise SettingError(f"the store has no results for {model!r}", "`python -m analysis models` lists them.")
    return sum(forget_model(store, card.fingerprint) for card in chosen)
