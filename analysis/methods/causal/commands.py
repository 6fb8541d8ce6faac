"""What is typed to fit a task or pairs again, as they were fitted."""

import json
from dataclasses import asdict

from analysis.data.tasks import builtin
from analysis.method import model_words
from analysis.methods.causal.result import variant_of
from analysis.methods.causal.settings import SEEDS, GateSettings
from analysis.models.card import ModelCard
from analysis.results.provenance import JsonObject, PlainValues, ScoredItem

DEFAULTS: JsonObject = {**json.loads(json.dumps(asdict(GateSettings()))), "seeds": SEEDS}


def fit_command(card: ModelCard, item: ScoredItem, fitted: PlainValues) -> list[str]:
    """The arguments that fit one item with some settings; of a task without seeds, those of its preview."""
    settings = {**DEFAULTS, **fitted}
    variant, name = variant_of(item), file_name(item)
    before, *behind = variant.command
    if not settings["seeds"]:
        return ["gates", *model_words(card), "--tasks", name, "--preview"]
    words = [before, *model_words(card), *behind, name]
    if not variant.is_task:  # one stage: the numbers of the other are not looked at
        settings |= {"push_updates": settings["free_updates"], "push_rate": settings["free_rate"]}
    words += ["--updates", str(settings["free_updates"]), str(settings["push_updates"])]
    words += ["--rates", *(str(rate) for rate in (*settings["free_rate"], *settings["push_rate"]))]
    for option in ("seeds", "batch", "push", "clip"):
        words += [f"--{option}", str(settings[option])]
    return words


def is_own(item: ScoredItem) -> bool:
    """Whether somebody brought it."""
    return item.name not in builtin()


def file_name(item: ScoredItem) -> str:
    """A built-in task, or the file of one's own prompts, as the command line takes it."""
    return f"{item.name}.jsonl" if is_own(item) else item.name
