"""The command line: map a model, inspect a head, list models, look after the cache.

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
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from analysis import __version__
from analysis.data.relations import builtin, choose
from analysis.data.tasks import builtin as builtin_tasks
from analysis.data.tasks import choose as choose_tasks
from analysis.data.tasks import file_content, read_contrast
from analysis.errors import HeadAtlasError, SettingError, StoreError
from analysis.methods.causal import report as causal_report
from analysis.methods.causal.contrast import ContrastPlan
from analysis.methods.causal.plan import CONTRAST_SEEDS, SEEDS, CausalPlan, GateSettings, causal_scores
from analysis.methods.function import report
from analysis.methods.function.plan import (
    Settings,
    function_scores,
    layers_salience,
    plan,
    salience,
    stored_scores,
)
from analysis.models import builtin as default_model
from analysis.models.card import HeadId, ModelCard
from analysis.models.checkpoint import Checkpoint
from analysis.models.sources import cached_models, open_model
from analysis.progress import ShownProgress
from analysis.results.inventory import forget, forget_stray_jobs, known_models, remember
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m analysis", description="What every attention head of a model does."
    )
    parser.add_argument("--version", action="version", version=f"Head Atlas {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON for scripts")
    model = argparse.ArgumentParser(add_help=False)
    model.add_argument("model", metavar="MODEL", help=f"{default_model.ID}, a folder, or a Hugging Face id")
    model.add_argument("--revision", help="branch, tag or commit on the Hugging Face hub")
    model.add_argument("--device", default="auto", help="cpu, cuda, cuda:1 … (default: a GPU when there is one)")
    function = argparse.ArgumentParser(add_help=False)
    function.add_argument(
        "--relations", nargs="+", default=[], metavar="NAME-or-FILE", help="names, categories or files"
    )
    function.add_argument(
        "--k",
        type=int,
        metavar="N",
        help="targets among the N largest count (default 10, large vocabularies 25)",
    )
    function.add_argument("--k-copying", type=int, metavar="N", help="the same for copying relations (default 1, or 3)")
    model.add_argument("--no-first-mlp", action="store_true", help="feed raw embeddings to all layers")
    shown: dict[str, Any] = {"parents": [model, function, common]}

    command = commands.add_parser("map", help="score every head for every relation", **shown)
    command.add_argument("--layers", type=_layers, metavar="A-B,C", help="only these layers")
    command.add_argument("--out", type=_out, metavar="FILE", help="write all scores to FILE.parquet or FILE.csv")
    command.set_defaults(run=_map)
    command = commands.add_parser("head", help="inspect one head", **shown)
    command.add_argument("head", metavar="HEAD", help="for example L10H7 or 10.7")
    command.set_defaults(run=_head)
    command = commands.add_parser("salience", help="the tokens on which every head acts most", parents=[model, common])
    command.add_argument("--out", type=_json_out, metavar="FILE", help="write them all to FILE.json.gz")
    command.set_defaults(run=_salience)
    _add_gates(commands, [model, common])
    command = commands.add_parser("models", help="list the models that can be opened or have results", parents=[common])
    command.set_defaults(run=_models)
    command = commands.add_parser("relations", help="list the built-in relations by name", parents=[common])
    command.set_defaults(run=_relations)
    command = commands.add_parser("cache", help="size of the cache; prune it", parents=[common])
    command.add_argument("action", nargs="?", choices=["size", "prune"], default="size")
    command.add_argument("--model", help="prune: only results of this model (id or start of its fingerprint)")
    command.add_argument("--all", action="store_true", help="prune: everything, the converted default model too")
    command.set_defaults(run=_cache)
    return parser


def _add_gates(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
    """The commands of the causal map."""
    fit = argparse.ArgumentParser(add_help=False)
    default = GateSettings()
    fit.add_argument("--published", action="store_true", help="the paper's updates, batch and rates (hours on a CPU)")
    fit.add_argument(
        "--updates", type=int, nargs=2, metavar=("FREE", "PUSH"), help="of the two stages (a contrast has the first)"
    )
    fit.add_argument("--batch", type=int, help=f"prompts in an update (default {default.batch})")
    fit.add_argument(
        "--rates",
        type=float,
        nargs=4,
        metavar="RATE",
        help="learning rates: first and last of the free stage, first and last of the pushed one"
        f" (default {' '.join(f'{rate:g}' for rate in (*default.free_rate, *default.push_rate))})",
    )
    fit.add_argument("--clip", type=float, help=f"largest norm of a gradient (default {default.clip:g})")
    fit.add_argument("--push", type=float, metavar="λ", help=f"how hard gates are pushed (default {default.push})")
    fit.add_argument("--out", type=_out, metavar="FILE", help="write all scores to FILE.parquet or FILE.csv")
    command = commands.add_parser("gates", help="which heads a task needs: the causal map", parents=[*parents, fit])
    command.add_argument("--tasks", nargs="+", default=["math", "syntax"], metavar="NAME-or-FILE.jsonl")
    command.add_argument("--seeds", type=int, default=SEEDS, help=f"random beginnings (default {SEEDS})")
    command.add_argument("--together", type=int, default=1, metavar="N", help="seeds in one batch (default 1)")
    command.add_argument("--preview", action="store_true", help="only the quick estimate from one backward pass")
    command.set_defaults(run=_gates)
    command = commands.add_parser(
        "contrast", help="heads that one behaviour needs and another does not", parents=[*parents, fit]
    )
    command.add_argument("pairs", type=Path, metavar="PAIRS.jsonl", help='lines of {"forget": {…}, "retain": {…}}')
    command.add_argument("--seeds", type=int, default=CONTRAST_SEEDS, help=f"default {CONTRAST_SEEDS}")
    command.set_defaults(run=_contrast)
    command = commands.add_parser("tasks", help="list the built-in tasks", parents=[parents[1]])
    command.set_defaults(run=_tasks)


def _gate_settings(options: argparse.Namespace) -> GateSettings:
    names = ("published", "updates", "rates", "batch", "push", "clip")
    return GateSettings.chosen(**{name: getattr(options, name) for name in names})


def _gates(options: argparse.Namespace, progress: ShownProgress) -> str:
    tasks = choose_tasks(options.tasks)
    settings = _gate_settings(options)
    seeds = 0 if options.preview else options.seeds
    return _causal(options, progress, lambda card: CausalPlan(card, tasks, seeds, settings, options.together))


def _contrast(options: argparse.Namespace, progress: ShownProgress) -> str:
    contrast = read_contrast(options.pairs.name, file_content(options.pairs))
    settings = _gate_settings(options).of_contrast(options.updates is None)
    return _causal(options, progress, lambda card: ContrastPlan(card, contrast, options.seeds, settings))


def _causal(
    options: argparse.Namespace, progress: ShownProgress, planned: Callable[[ModelCard], CausalPlan | ContrastPlan]
) -> str:
    with closing(Store(cache_folder() / "store")) as store:
        checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
        wanted = planned(checkpoint.card)
        scores = causal_scores(checkpoint, wanted, store, options.device, progress)
        progress.close()
    if options.out:
        _write(options.out, scores)
    data = causal_report.causal_data(scores, str(options.out) if options.out else None)
    return json.dumps(data) if options.json else causal_report.causal_text(data)


def _tasks(options: argparse.Namespace, progress: ShownProgress) -> str:
    data = [
        {
            "name": task.name, "title": task.title, "sentence": task.sentence, "kinds": list(task.kinds),
            "train": len(task.train), "validation": len(task.validation), "example": task.train[0].prompt,
            "target": task.train[0].target,
        }
        for task in builtin_tasks().values()
    ]  # fmt: skip
    return json.dumps(data) if options.json else causal_report.tasks_text(data)


def _layers(text: str) -> tuple[int, ...]:
    chosen: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.strip().isdecimal() or not (last or first).strip().isdecimal() or len(part) > 9:
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of layers such as 0-5,10")
        chosen.update(range(int(first), int(last or first) + 1))
    if not chosen:
        raise argparse.ArgumentTypeError(f"{text!r} names no layer")
    return tuple(sorted(chosen))


def _out(text: str) -> Path:
    return _writable(text, (".parquet", ".csv"))


def _json_out(text: str) -> Path:
    return _writable(text, (".json.gz",))


def _writable(text: str, endings: tuple[str, ...]) -> Path:
    path = Path(text)
    if not path.name.lower().endswith(endings):
        raise argparse.ArgumentTypeError(f"the file must end in {' or '.join(endings)}")
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


def _scores(
    options: argparse.Namespace, checkpoint: Checkpoint, progress: ShownProgress, store: Store
) -> tuple[Scores, bool]:
    """The scores that the options ask for, and whether they were in the store."""
    relations = choose(options.relations)
    default = Settings.default(checkpoint.card.vocabulary)
    settings = Settings(
        k_copying=default.k_copying if options.k_copying is None else options.k_copying,
        k_standard=default.k_standard if options.k is None else options.k,
        first_mlp=not options.no_first_mlp,
    )
    wanted = plan(checkpoint, relations, settings, getattr(options, "layers", None))
    stored = stored_scores(wanted, store)
    scores = stored or function_scores(checkpoint, wanted, store, options.device, progress)
    remember(store, checkpoint.card)  # under the name by which it was opened this time
    progress.close()
    return scores, stored is not None


def _map(options: argparse.Namespace, progress: ShownProgress) -> str:
    start = time.monotonic()
    with closing(Store(cache_folder() / "store")) as store:
        checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
        scores, stored = _scores(options, checkpoint, progress, store)
    if options.out:
        _write(options.out, scores)
    facts = {
        "from_store": stored,
        "seconds": round(time.monotonic() - start, 2),
        "store": str(cache_folder() / "store"),
        "out": str(options.out) if options.out else None,
    }
    return json.dumps(report.map_data(scores, facts)) if options.json else report.map_text(scores, facts)


def _write(path: Path, scores: Scores) -> None:
    """The scores to a file, whole or not at all; a CSV gets its provenance beside it."""
    files = {path: scores.to_csv().encode() if path.suffix.lower() == ".csv" else scores.to_parquet()}
    if path.suffix.lower() == ".csv":
        files[path.with_suffix(".provenance.json")] = scores.provenance.to_json().encode()
    _write_files(files)


def _write_files(files: dict[Path, bytes]) -> None:
    """Each file whole or not at all."""
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
    with closing(Store(cache_folder() / "store")) as store:
        wanted = HeadId.parse(options.head)
        checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
        head = checkpoint.card.check(wanted)
        scores, _ = _scores(options, checkpoint, progress, store)
        operations = salience(checkpoint, head, store, options.device, not options.no_first_mlp, progress)
        progress.close()
    data = report.head_data(scores, head, operations)
    return json.dumps(data) if options.json else report.head_text(data)


def _salience(options: argparse.Namespace, progress: ShownProgress) -> str:
    with closing(Store(cache_folder() / "store")) as store:
        checkpoint = open_model(options.model, options.revision, cache_folder(), progress)
        card = checkpoint.card
        found = layers_salience(checkpoint, card.layers, store, options.device, not options.no_first_mlp, progress)
        progress.close()
    if options.out:
        _write_files({options.out: report.salience_file(card, found)})
    data = {"model": card.to_dict(), "heads": len(card.layers) * card.heads, "out": str(options.out or "") or None}
    where = f"written to {options.out}, " if options.out else ""
    text = f"salient tokens of {data['heads']} heads of {card.id}: {where}kept in the store {cache_folder() / 'store'}"
    return json.dumps(data) if options.json else text


def _models(options: argparse.Namespace, progress: ShownProgress) -> str:
    with closing(Store(cache_folder() / "store")) as store:
        ours = [scores.provenance.model for scores in shipped()]
        known = list({(card.id, card.fingerprint): card for card in (*ours, *known_models(store))}.values())
        results = Counter(card.fingerprint for card in ours)
        results.update(key.split("/")[1] for key in store.names("result/"))
    named = {card.id for card in known}
    others = [name for name in (default_model.ID, *cached_models()) if name not in named]
    data = [
        *({**card.to_dict(), "results": results[card.fingerprint]} for card in known),
        *({"id": name, "results": 0} for name in others),
    ]
    return json.dumps(data) if options.json else report.models_text(data)


def _cache(options: argparse.Namespace, progress: ShownProgress) -> str:
    folder, pruned = cache_folder(), 0
    if options.action != "prune" and (options.all or options.model is not None):
        raise SettingError("--all and --model go with prune", "Write: cache prune --all")
    if options.all:  # without opening the store: it may be damaged, or the disk full
        shutil.rmtree(folder / "store", ignore_errors=True)
        shutil.rmtree(folder / "models", ignore_errors=True)
    with closing(Store(folder / "store")) as store:
        if options.action == "prune":
            pruned = _prune(store, options.model)
        data = {
            "folder": str(folder),
            "store_bytes": store.size(),
            "entries": sum(1 for _ in store.names()),
            "pruned": pruned,
            "models_bytes": sum(path.stat().st_size for path in (folder / "models").rglob("*") if path.is_file()),
        }
    return json.dumps(data) if options.json else report.cache_text(data)


def _relations(options: argparse.Namespace, progress: ShownProgress) -> str:
    data = [
        {"name": r.name, "category": r.category, "title": r.title, "sentence": r.sentence, "pairs": len(r.pairs)}
        for r in builtin().values()
    ]
    return json.dumps(data) if options.json else report.relations_text(data)


def _prune(store: Store, model: str | None) -> int:
    """Without a model: parts of results, damaged entries and jobs that left nothing. With one: all that is of it."""
    if model is None:
        stale = [key for key in store.names() if key.startswith("unit/") or store.get(key) is None]
        for key in stale:
            store.delete(key)
        return len(stale) + forget_stray_jobs(store)
    chosen = [card for card in known_models(store) if model in (card.id, card.fingerprint[: max(len(model), 6)])]
    if not chosen:
        raise SettingError(f"the store has no results of {model!r}", "`python -m analysis models` lists them.")
    return sum(forget(store, card.fingerprint) for card in chosen)
