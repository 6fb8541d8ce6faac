"""Whether heads that have a label of what they do also matter: two methods' labels of the same heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from analysis import methods
from analysis.errors import SettingError
from analysis.evidence.quantity import BETWEEN, Quantity, unknown_quantity
from analysis.method import Method
from analysis.models.card import HeadId, ModelCard
from analysis.results.labels import LabelRule
from analysis.results.provenance import JsonObject, Provenance
from analysis.results.scores import Codes, Floats, Scores

NAME = "agreement"  # what keys of agreements start with, and the name of the map that shows them
NEITHER, UNLABELLED, IRRELEVANT, BOTH = range(4)
_CLASS = "class"  # in place of a unit
WORDS = ("neither", "causal but unlabelled", "labelled but irrelevant", "labelled and causal")


@dataclass(frozen=True, eq=False)
class LabelComparison:
    """What decides about two labels of every head: of what it does, and whether it matters for an item."""

    what: str  # the name of a method
    whether: str
    item: str  # of the second: a task or a relation
    title: str
    own: bool  # the item is a relation of the first, too: its labels alone count, else those of any relation
    label: Floats  # [layer, head]
    cause: Floats

    def codes(self, least_label: float | None = None, least_cause: float | None = None) -> Codes:  # [layer, head]
        """The class of every head, at the methods' own thresholds or at others."""
        is_labelled = rule_of(self.what).holds(self.label, least_label)
        is_causal = rule_of(self.whether).holds(self.cause, least_cause)
        codes = np.where(is_labelled, IRRELEVANT, NEITHER) + np.where(is_causal, UNLABELLED, NEITHER)
        return codes.astype(np.uint8)


@dataclass(frozen=True, eq=False)
class Agreement:
    """Two methods of one model: what heads do, and whether they matter for an item of the other."""

    what: str  # the name of a method
    whether: str
    item: str  # of the second: a task or a relation
    title: str
    codes: Codes  # [layer, head]
    thresholds: tuple[float, float]  # of the two methods, by which the codes were decided
    card: ModelCard
    replaced: str = ""  # by what a head was replaced where the cause was decided; empty where that is no question

    @property
    def key(self) -> str:
        """Its key among a model's quantities."""
        return BETWEEN.join((NAME, self.what, self.whether, self.item))

    @property
    def counts(self) -> dict[str, int]:
        """How many heads are in each class."""
        return {words: int((self.codes == code).sum()) for code, words in enumerate(WORDS)}

    @property
    def expected(self) -> float:
        """How many heads would be labelled and causal if the one had nothing to do with the other."""
        return expected_counts(list(self.counts.values()))[BOTH]

    @property
    def p(self) -> float:
        """How likely so many heads, or more, are both when labels are drawn at random."""
        return chance_of_both(list(self.counts.values()))

    @property
    def heads(self) -> dict[str, list[str]]:
        """The names of the heads in each class."""
        names = {}
        for code, words in enumerate(WORDS):
            places = np.argwhere(self.codes == code)
            names[words] = [str(HeadId(self.card.layers[layer], int(head))) for layer, head in places]
        return names

    def to_plain(self, with_heads: bool = False) -> JsonObject:
        """As returned by the API and `--json`."""
        facts: JsonObject = {"what": self.what, "whether": self.whether, "item": self.item, "title": self.title}
        if self.replaced:
            facts["replaced"] = self.replaced
        thresholds = dict(zip((self.what, self.whether), self.thresholds, strict=True))
        chance = {"expected_both": round(self.expected, 2), "p_both": self.p}
        plain = {**facts, "thresholds": thresholds, "counts": self.counts, **chance}
        return {**plain, "heads": self.heads} if with_heads else plain


def expected_counts(counts: Sequence[int]) -> list[float]:
    """How many heads would be in each class, in the order of `WORDS`, if label and cause were independent."""
    total = sum(counts)
    labelled, causal = counts[IRRELEVANT] + counts[BOTH], counts[UNLABELLED] + counts[BOTH]
    expected = []
    for code in range(len(WORDS)):
        of_label = labelled if code in (IRRELEVANT, BOTH) else total - labelled
        of_cause = causal if code in (UNLABELLED, BOTH) else total - causal
        expected.append(of_label * of_cause / total if total else 0.0)
    return expected


def chance_of_both(counts: Sequence[int]) -> float:
    """The probability that at least so many heads are labelled and causal if the labels are drawn at random.

    The upper tail of the hypergeometric distribution with the same numbers of labelled and of causal heads.
    """
    total = sum(counts)
    labelled, causal = counts[IRRELEVANT] + counts[BOTH], counts[UNLABELLED] + counts[BOTH]
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, total + 1)))])  # their logarithms
    both = np.arange(counts[BOTH], min(labelled, causal) + 1)
    ways = -factorials[both] - factorials[labelled - both] - factorials[causal - both]
    ways = ways - factorials[total - labelled - causal + both]
    ways += factorials[labelled] + factorials[total - labelled] + factorials[causal] + factorials[total - causal]
    return min(1.0, float(np.exp(ways - factorials[total]).sum()))


def p_words(p: float) -> str:
    """A probability with three decimals."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def checked_replacement(replaced: str) -> str:
    """What may stand in a head's place; none is the usual one."""
    known = replacements()
    if replaced and replaced not in known:
        raise SettingError(f"{replaced[:40]!r} cannot stand in a head's place", f"There are: {', '.join(known)}.")
    return replaced


def replacements() -> list[str]:
    """All that may stand in a head's place where its cause is decided, the usual first."""
    return list(dict.fromkeys(word for method in methods.METHODS for word in method.replacements))


def rule_of(name: str) -> LabelRule:
    """When a method's strength makes a label."""
    rule = methods.method(name).label
    if rule is None:
        raise ValueError(f"{name} gives no labels")
    return rule


def what_methods(results: Mapping[str, Scores]) -> list[Method]:
    """The methods that say what a head does and have a result, in the order of the list."""
    return [method for method in methods.METHODS if method.answers_what and method.name in results]


def whether_methods(results: Mapping[str, Scores]) -> list[Method]:
    """The methods that say whether a head matters and have a result."""
    return [method for method in methods.METHODS if method.answers_whether and method.name in results]


def chosen_thresholds(texts: Sequence[str]) -> dict[str, float]:
    """Thresholds by method, each written METHOD=NUMBER."""
    allowed = [method.name for method in methods.METHODS if method.label is not None]
    least: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = nan
        if name not in allowed or not isfinite(value):
            hint = f"Write METHOD=NUMBER, such as {allowed[0]}=0.3; the methods are {', '.join(allowed)}."
            raise SettingError(f"{text[:60]!r} is no threshold", hint)
        least[name] = value
    return least


def agreements(
    results: Mapping[str, Scores],
    least: Mapping[str, float] | None = None,
    beyond: bool = False,
    replaced: str = "",
) -> list[Agreement]:
    """Every method of the one kind with every item of the other, in the order of the list of methods.

    `least` has thresholds, by method, other than the methods' own; labels beyond copying alone count if asked;
    `replaced` says what stands in a head's place where its cause is decided, if not the usual.
    """
    chosen = least or {}
    made: list[Agreement] = []
    for what in what_methods(results):
        for whether in whether_methods(results):
            thresholds = _threshold(what.name, chosen), _threshold(whether.name, chosen)
            stands = (replaced or whether.replacements[0]) if whether.replacements else ""
            card = results[whether.name].provenance.model
            for each in label_comparisons(results, what.name, whether.name, beyond=beyond, replaced=stands):
                codes = each.codes(*thresholds)
                made.append(Agreement(each.what, each.whether, each.item, each.title, codes, thresholds, card, stands))
    return made


def _threshold(name: str, chosen: Mapping[str, float]) -> float:
    return chosen.get(name, rule_of(name).least)


def label_comparisons(
    results: Mapping[str, Scores],
    what: str,
    whether: str,
    how: str = "mean",
    beyond: bool = False,
    replaced: str = "",
) -> list[LabelComparison]:
    """One method's labels against each item of another; `how` says over which samples an item's cause holds.

    Labels beyond copying alone count if asked, where the result can tell which these are.
    """
    labels = methods.method(what).specific_strengths(results[what]) if beyond else None
    if labels is None:
        labels = methods.method(what).strengths(results[what])
    causes = methods.method(whether).strengths_replaced(results[whether], how, replaced)
    if labels is None or causes is None or not labels.sizes["item"]:
        return []
    made: list[LabelComparison] = []
    for item in results[whether].provenance.items:
        is_own = item.name in labels["item"]
        label = labels.sel(item=item.name) if is_own else labels.max("item")
        cause = causes.sel(item=item.name)
        made.append(LabelComparison(what, whether, item.name, item.title, is_own, label.values, cause.values))
    return made


class LabelClasses:
    """The classes as quantities, for maps, tables and comparisons of models."""

    def quantities(self, results: Mapping[str, Scores]) -> list[Quantity]:
        """One for every two methods and item."""
        listed: list[Quantity] = []
        for each in agreements(results):
            title = f"{methods.method(each.what).title} and {methods.method(each.whether).title}: {each.title}"
            listed.append(Quantity(each.key, title, NAME.capitalize(), is_class=True, unit=_CLASS))
        return listed

    def has(self, first: str) -> bool:
        """Keys start with one word."""
        return first == NAME

    def unit(self, results: Mapping[str, Scores], key: str) -> str:
        """None: they are classes."""
        return _CLASS

    def sources(self, results: Mapping[str, Scores], key: str) -> list[Provenance]:
        """The results of both methods."""
        _, what, whether = key.split(BETWEEN)[:3]
        return [results[what].provenance, results[whether].provenance]

    def values(self, results: Mapping[str, Scores], key: str) -> Floats:  # [layer, head]
        """The codes, at the methods' own thresholds."""
        for each in agreements(results):
            if each.key == key:
                return each.codes.astype(np.float64)
        raise unknown_quantity(key)


def agreement_lines(listed: list[Agreement], with_heads: bool = False) -> list[str]:
    """A table for a terminal; below each row, if asked, the heads of all classes but the largest."""
    lines = [
        f"{'labels':10} {'causes':10} {'task':18} {'both':>6} {'expected':>9} {'p':>9}  {'irrelevant':>11} "
        f"{'unlabelled':>11} {'neither':>8}"
    ]
    for each in listed:
        neither, unlabelled, irrelevant, both = each.counts.values()
        p = p_words(each.p).removeprefix("p ").removeprefix("= ")
        numbers = f"{both:6} {each.expected:9.1f} {p:>9}  {irrelevant:11} {unlabelled:11} {neither:8}"
        lines.append(f"{each.what:10} {each.whether:10} {each.title:18} {numbers}")
        if with_heads:
            names = each.heads
            for code in (BOTH, IRRELEVANT, UNLABELLED):
                lines.append(f"  {WORDS[code]}: {' '.join(names[WORDS[code]]) or 'none'}")
    replaced = {each.replaced for each in listed if each.replaced}
    if replaced:
        lines += ["", f"ablated heads replaced by: {', '.join(sorted(replaced))}"]
    return lines
