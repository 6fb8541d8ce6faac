"""Seeds whose two fits say opposite things of a head: pushed shut its gate is more open than pushed open."""

from collections.abc import Sequence

import numpy as np

from analysis.methods.causal.result import HEAD_ROLES
from analysis.results.scores import Bools, Scores
from dashboard.cache import cached
from dashboard.maps.causal.gates import fitted_seeds
from dashboard.maps.panel import PanelLabel

LEAST = 0.25  # by which the gate pushed shut is more open than the one pushed open


def contradiction_words(seeds: Sequence[str]) -> str:
    """That they contradict themselves; nothing of no seeds."""
    numbers = [seed.removeprefix("seed ") for seed in seeds]
    if not numbers:
        return ""
    if len(numbers) == 1:
        return f"seed {numbers[0]} contradicts itself"
    return f"seeds {', '.join(numbers)} contradict themselves"


def contradicting(causal: Scores, task: str, seeds: Sequence[str]) -> Bools:  # [seed, layer, head]
    """Whether each of some fitted seeds contradicts itself about each head; a contrast has one fit and never does."""
    scores = causal.score.sel(item=task, sample=list(seeds))
    shut, opened = scores.sel(kind=HEAD_ROLES[0]), 1 - scores.sel(kind=HEAD_ROLES[1])
    with np.errstate(invalid="ignore"):
        return np.asarray((shut - opened > LEAST).transpose("sample", "layer", "head").values)


@cached(64)
def remarks(causal: Scores, task: str, column: str) -> PanelLabel | None:
    """Which of a column's seeds contradict themselves about each head, in words; None where no seed does."""
    there = fitted_seeds(causal, task)
    seeds = [seed for seed in there if seed == column] if column in causal.score.sample.values else there
    flags = contradicting(causal, task, seeds)
    if not flags.any():
        return None
    words = []
    for of_head in flags.reshape(len(seeds), -1).T:
        words.append(contradiction_words([seed for seed, flag in zip(seeds, of_head, strict=True) if flag]))
    found = PanelLabel.of(["", *words], (len(words) + 1,))  # no remark has code 0
    return PanelLabel(found.words, found.codes[1:].reshape(flags.shape[1:]))
