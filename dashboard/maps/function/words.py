"""How to read the function map, in words that follow the controls. The scripts say the same from the same facts."""

from dataclasses import dataclass

from dashboard.maps.function.basis import bases, basis_of, carrier_words, has_carriers
from dashboard.maps.function.besides import rules_beside
from dashboard.maps.function.labels import BEYOND
from dashboard.maps.function.state import FunctionState
from dashboard.maps.map import MapView
from dashboard.maps.sentences import Said, bold, code, number

_DOES = {"both": "promotes or suppresses", "promote": "promotes", "suppress": "suppresses"}


@dataclass(frozen=True)
class FunctionFacts:
    """What the sentence needs to know beside the state."""

    model: str
    about: str  # what the scores are read from
    carriers: str  # how they are taken together, as the end of a sentence
    beside: tuple[tuple[str, str], ...]  # when a head belongs to the categories of other methods
    more: tuple[Said, ...]  # what else there is to say


def facts(shown: MapView[FunctionState]) -> FunctionFacts:
    """The facts about the result on the page."""
    carriers = f", {carrier_words(shown)}" if has_carriers(shown.whole) else ""
    about = basis_of(shown.whole.provenance).about
    return FunctionFacts(shown.card.id, about, carriers, rules_beside(shown.result), _not_yet(shown))


def said(shown: MapView[FunctionState]) -> list[Said]:
    """What a square is, when it belongs to a category and what a tint means."""
    shown_facts, state, does = facts(shown), shown.state, _DOES[shown.state.kind]
    start = f"Each square is one attention head of {shown_facts.model}, {shown_facts.about}; "
    more = [*_beside(shown), *shown_facts.more]
    if state.colour == "scores":
        rule = f"the stronger its colour, the more often it {does} the right word of "
        return [start, rule, *_what(shown), f"{shown_facts.carriers}.{_filter(state)}", *more]
    belongs = "counts" if state.relation in shown.result.items() else "belongs to a category"
    share = number(100 * state.tau)
    rule = f"it {belongs} if it {does} the right word for more than {share} % of the pairs of "
    end = f"{shown_facts.carriers}; lower scores are only tinted."
    return [start, rule, *_what(shown), f"{end}{_filter(state)}{_top(state)}", *more]


def _what(shown: MapView[FunctionState]) -> list[Said]:
    if shown.state.relation in shown.result.items():
        item = shown.result.item(shown.state.relation)
        return [bold(item.title), f" ({item.sentence[:1].lower()}{item.sentence[1:].removesuffix('.')})"]
    which = "any" if shown.state.how == "any" else "every"
    return [bold(which), " relation in the category"]


def _filter(state: FunctionState) -> str:
    """Which labels count, when not all do."""
    return f" Only labels {BEYOND} count." if state.labels == "beyond" else ""


def _top(state: FunctionState) -> str:
    return f" Only the top {state.top} per category are coloured." if state.top else ""


def _beside(shown: MapView[FunctionState]) -> list[Said]:
    """When a head belongs to the categories that are none of relations, where these are on the page."""
    if shown.state.relation in shown.result.items():
        return []
    between = "" if shown.state.colour == "scores" else ", and more than τ,"
    return [between.join(parts) for parts in rules_beside(shown.result)]


def _not_yet(shown: MapView[FunctionState]) -> tuple[Said, ...]:
    """How to get the map that reads what heads really read, where the model has none."""
    last = [method for method in bases() if method.judges][-1]
    if last.name in dict(shown.by_method):
        return ()
    start = f" There is no map from the {last.basis.lower()} yet: request it under Models and jobs, or run "
    return (start, code(last.command_line(shown.card.id)), ".")
