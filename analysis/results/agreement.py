"""Whether heads that have a label of what they do also matter: two methods' labels of the same heads."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis import methods
from analysis.results.provenance import Data
from analysis.results.scores import Scores

NEITHER, UNLABELLED, IRRELEVANT, BOTH = range(4)
WORDS = ("neither", "causal but unlabelled", "labelled but irrelevant", "labelled and causal")

Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Agreement:
    """Two methods of one model: what heads do, and whether they matter for an item of the other."""

    what: str  # the name of a method
    whether: str
    item: str  # of the second: a task
    title: str
    codes: Codes  # [layer, head]

    @property
    def counts(self) -> dict[str, int]:
        """How many heads are in each class."""
        return {words: int((self.codes == code).sum()) for code, words in enumerate(WORDS)}

    @property
    def expected(self) -> float:
        """How many heads would be labelled and causal if the one had nothing to do with the other."""
        labelled = np.isin(self.codes, (IRRELEVANT, BOTH)).sum()
        causal = np.isin(self.codes, (UNLABELLED, BOTH)).sum()
        return float(labelled * causal / self.codes.size)

    def to_plain(self) -> Data:
        """As the API and `--json` tell it."""
        facts: Data = {"what": self.what, "whether": self.whether, "item": self.item, "title": self.title}
        return {**facts, "counts": self.counts, "expected_both": round(self.expected, 2)}


def agreements(results: Mapping[str, Scores]) -> list[Agreement]:
    """Every method of the one kind with every item of the other, in the order of the list of methods."""
    pairs = []
    for what in methods.METHODS:
        if what.answers_what and what.name in results:
            for whether in methods.METHODS:
                if whether.answers_whether and whether.name in results:
                    pairs += _agreements(what.name, whether.name, results)
    return pairs


def _agreements(what: str, whether: str, results: Mapping[str, Scores]) -> list[Agreement]:
    labels = methods.method(what).labelled(results[what])
    causes = methods.method(whether).labelled(results[whether])
    if labels is None or causes is None or not labels.sizes["item"]:
        return []
    is_labelled = labels.any("item").values
    listed = []
    for item in results[whether].provenance.items:
        is_causal = causes.sel(item=item.name).values
        codes = np.where(is_labelled, IRRELEVANT, NEITHER) + np.where(is_causal, UNLABELLED, 0)
        listed.append(Agreement(what, whether, item.name, item.title, codes.astype(np.uint8)))
    return listed


def agreement_lines(listed: list[Agreement]) -> list[str]:
    """A table for a terminal."""
    lines = [
        f"{'labels':10} {'task':12} {'both':>6} {'expected':>9} {'irrelevant':>11} {'unlabelled':>11} {'neither':>8}"
    ]
    for each in listed:
        neither, unlabelled, irrelevant, both = each.counts.values()
        numbers = f"{both:6} {each.expected:9.1f} {irrelevant:11} {unlabelled:11} {neither:8}"
        lines.append(f"{each.what:10} {each.title:12} {numbers}")
    return lines
