"""The pages beside the maps: what their addresses say, and where they are whatever the controls of the maps say."""

from dataclasses import dataclass

from analysis.models.card import HeadId, ModelCard
from analysis.prompt.question import ABLATE, INSTEAD, MAX_CHARACTERS, POSITIONS
from dashboard.query import named, query_of, written
from dashboard.setting import Codec, one_of, setting

_LONGEST_KEY = 240  # characters of a model or number
_KEY: Codec[str] = Codec(lambda text: text[:_LONGEST_KEY], str)
_ANY_TEXT: Codec[str] = Codec(lambda text: text[:MAX_CHARACTERS], str)  # line breaks count


@dataclass(frozen=True)
class CompareState:
    """Two models and a number of each, two more numbers for the points, and the rectangle that selects some of them."""

    a: str = setting("", _KEY)
    b: str = setting("", _KEY)
    own: str = setting("", _KEY)  # a custom relation set whose scores are among the numbers, as name@id
    x: str = setting("", _KEY)
    y: str = setting("", _KEY)
    x_over: str = setting("", _KEY)  # how the samples of a number are taken together; empty for their mean
    y_over: str = setting("", _KEY)
    colour: str = setting("", _KEY)
    size: str = setting("", _KEY)
    brush: str = setting("", _KEY)  # two corners in the numbers of the two axes


@dataclass(frozen=True)
class PromptState:
    """A question about a text of one's own."""

    model: str = setting("", _KEY)
    head: str = setting("", _KEY)  # heads as somebody typed them
    ablate: str = setting(ABLATE, one_of(POSITIONS))  # at which tokens heads are switched off
    instead: str = setting(INSTEAD[0], one_of(INSTEAD))
    text: str = setting("", _ANY_TEXT)


def map_address(card: ModelCard) -> str:
    """The maps of a model."""
    return f"/{query_of({'model': named(card)})}"


def page_of(card: ModelCard, head: HeadId) -> str:
    """The head's own page."""
    return f"/head/{head}{query_of({'model': named(card)})}"


def prompt_address(card: ModelCard, head: HeadId) -> str:
    """Where the head looks on a text of one's own."""
    return f"/prompt{query_of(written(PromptState(model=named(card), head=str(head))))}"


def compare_address(state: CompareState) -> str:
    """Numbers of heads against each other."""
    return f"/compare{query_of(written(state))}"


def search_address(card: ModelCard, words: str, own: str = "") -> str:
    """The heads that some words are about, also in a custom relation set if it is named."""
    own_set = {"own": own} if own else {}
    return f"/search{query_of({'model': named(card), **own_set, 'q': words})}"
