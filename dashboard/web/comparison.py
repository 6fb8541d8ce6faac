"""What a comparison is of: what its address asks for, what can be chosen, and what it opens on."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.evidence.catalogue import Catalogue
from analysis.evidence.quantity import ANY, BETWEEN, STRENGTH, Quantity
from analysis.models.card import ModelCard
from analysis.results.own_sets import OwnSet, found_set, offered_sets
from dashboard.addresses import CompareState
from dashboard.page.compare_page import Choices, samples_of
from dashboard.quantities import listed_quantities
from dashboard.query import named
from dashboard.view import chosen_model, shown_instead

_BEST = f"{ANY}{BETWEEN}{STRENGTH}"  # of a number's key: the strongest label of any relation


@dataclass(frozen=True)
class _Side:
    """A model, the custom relation sets that it has scores for, and its numbers."""

    card: ModelCard
    sets: tuple[OwnSet, ...]
    own: str  # the id of the set whose scores are among the numbers; empty for none that was chosen
    listed: tuple[Quantity, ...]

    @property
    def keys(self) -> list[str]:
        """Of all numbers."""
        return [each.key for each in self.listed]

    @property
    def numbers(self) -> list[str]:
        """The same without classes, which have no order."""
        return [each.key for each in self.listed if not each.is_class]

    def over(self, key: str, asked: str) -> str:
        """How the samples of a number are taken together, if it has these."""
        return asked if asked in samples_of(self.listed, key) else ""


def choices_of(catalogue: Catalogue, asked: CompareState, notices: Sequence[str]) -> Choices:
    """What can be compared, and what the address asks for; an unknown model or set is reported."""
    a, of_first = chosen_model(catalogue, asked.a)
    b, of_second = chosen_model(catalogue, asked.b) if asked.b else (a, [])
    own = _chosen_set(catalogue, asked.own, a, b)
    left, right = _side(catalogue, a, own), _side(catalogue, b, own)
    x, y = _opening(left, right)
    x = asked.x if asked.x in left.keys else x
    if asked.y in right.keys:
        y = asked.y
    elif asked.x in left.keys:
        y = _against(x, right.numbers, of_same=a == b)
    chosen = CompareState(
        a=named(a),
        b=named(b),
        own=own.address if own is not None else "",
        x=x,
        y=y,
        x_over=left.over(x, asked.x_over),
        y_over=right.over(y, asked.y_over),
        colour=asked.colour if asked.colour in left.keys else "",
        size=asked.size if asked.size in left.numbers else "",
        brush=asked.brush,
    )
    instead = [shown_instead(a, asked.a, notice) for notice in of_first]
    instead += [shown_instead(b, asked.b, notice) for notice in of_second]
    for side in (left, right):
        if asked.own and not side.own:
            instead.append(f"{side.card.id} has no relations {asked.own[:80]!r} here; the built-in ones are shown.")
    sets = {one.id: one for one in (*left.sets, *right.sets)}
    return Choices(
        left=a,
        models=tuple(catalogue.models()),
        of_a=left.listed,
        of_b=right.listed,
        chosen=chosen,
        sets=tuple(offered_sets(list(sets.values()), chosen.own)),
        own={"x": left.own, "y": right.own},
        notices=tuple(dict.fromkeys([*notices, *instead])),
    )


def _chosen_set(catalogue: Catalogue, text: str, a: ModelCard, b: ModelCard) -> OwnSet | None:
    """The set of any of two models; a model that has scores for nothing else begins with its own."""
    if not text:
        return catalogue.default_set(a)
    return found_set(catalogue.sets(a), text) or found_set(catalogue.sets(b), text)


def _side(catalogue: Catalogue, card: ModelCard, own: OwnSet | None) -> _Side:
    """A model's numbers, with those of the set where it has it."""
    sets = tuple(catalogue.sets(card))
    has_it = own is not None and own.id in [one.id for one in sets]
    chosen = own.id if own is not None and has_it else ""
    return _Side(card, sets, chosen, listed_quantities(catalogue, card, chosen or None))


def _opening(left: _Side, right: _Side) -> tuple[str, str]:
    """What a comparison begins with: the strongest label of every head, from the weights and in the running model.

    Of two models in the way that both were scored and that is closest to the running model.
    """
    best = [key for key in left.numbers if key.endswith(f"{BETWEEN}{_BEST}")]
    if left.card == right.card and len(best) > 1:
        return best[0], best[1]
    common = [key for key in best[:2] if key in right.numbers]
    if left.card != right.card and common:
        return common[-1], common[-1]
    x = "".join(left.numbers[:1])
    return x, _against(x, right.numbers, of_same=left.card == right.card)


def _against(x: str, numbers: Sequence[str], of_same: bool) -> str:
    """A number for the other axis: the same of another model, or by another method, or else the second one."""
    if not of_same and x in numbers:
        return x
    of_what = x.partition(BETWEEN)[2]  # behind the method: item and kind
    for key in numbers:
        if key != x and key.partition(BETWEEN)[2] == of_what:
            return key
    return "".join(numbers[1:2])
