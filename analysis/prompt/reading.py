"""The reading of a prompt, as the store keeps it and as the API and the command line return it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Self

from analysis.data.printable import printable
from analysis.results.provenance import JsonObject

Matrix = list[list[float]]

_TOP = 10  # heads listed in a terminal
_SHOWN = 5  # tokens that a terminal shows of the ones a head looks at

DIRECT = (
    "What each part adds by itself to the logit of the predicted token minus the mean logit of the vocabulary, through "
    "the final norm as it is in this run; heads, MLPs, biases and embedding add up to it."
)
POSITIONS = {"all": "at every token", "last": "at the last token alone"}  # where heads are off
INSTEAD = {"zero": "zero", "mean": "its mean over the tokens of the text"}  # what stands in the place of their output


@dataclass(frozen=True)
class Token:
    """A token of the prompt."""

    id: int
    text: str  # with the space at the start of a word


@dataclass(frozen=True)
class NextToken:
    """A token that may follow."""

    id: int
    text: str
    probability: float
    log_probability: float
    logit: float  # minus the mean logit of the vocabulary


@dataclass(frozen=True)
class Direct:
    """Effects on the logit of the predicted token; all of them add up to `total`."""

    heads: Matrix  # [layer, head]
    mlps: list[float]  # [layer]
    attention_biases: list[float]  # [layer]
    embedding: float
    biases: float
    total: float


@dataclass(frozen=True)
class HeadPattern:
    """Where a head looks."""

    head: str
    attention: Matrix  # [query, key]


@dataclass(frozen=True)
class PromptReading:
    """One prompt. The predicted token is the first of `next`."""

    text: str
    tokens: tuple[Token, ...]
    next: tuple[NextToken, ...]
    layers: tuple[int, ...]  # the numbers of the rows of a map
    direct: Direct
    patterns: tuple[HeadPattern, ...]
    provenance: JsonObject

    def to_json(self) -> bytes:
        """As the store keeps it."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Self:
        """The inverse of `to_json`."""
        values = json.loads(content)
        kinds = {"tokens": Token, "next": NextToken, "patterns": HeadPattern}
        for name, kind in kinds.items():
            values[name] = tuple(kind(**one) for one in values[name])
        return cls(**{**values, "layers": tuple(values["layers"]), "direct": Direct(**values["direct"])})


@dataclass(frozen=True)
class PromptAblation:
    """What the prediction loses, or gains, without each head."""

    positions: str  # of `POSITIONS`
    instead: str  # of `INSTEAD`
    heads: Matrix  # [layer, head] change of the predicted token's log-probability
    provenance: JsonObject

    @property
    def about(self) -> str:
        """In words."""
        how = f"a head's output is {INSTEAD[self.instead]} {POSITIONS[self.positions]}"
        return f"Change of the predicted token's log-probability when {how}."

    def to_json(self) -> bytes:
        """As the store keeps it."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Self:
        """The inverse of `to_json`."""
        return cls(**json.loads(content))


def reading_data(reading: PromptReading, ablation: PromptAblation | None) -> JsonObject:
    """As returned by the API and `--json`."""
    plain = {field.name: asdict(reading)[field.name] for field in fields(reading)}
    plain["direct"]["about"] = DIRECT
    plain["without"] = None if ablation is None else {**asdict(ablation), "about": ablation.about}
    return plain


def reading_text(reading: PromptReading, ablation: PromptAblation | None) -> str:
    """For a terminal."""
    lines = [" ".join(printable(token.text) for token in reading.tokens), "", "next token"]
    for token in reading.next:
        lines.append(f"  {printable(token.text):20} {token.probability:6.1%}  logit {token.logit:+.2f}")
    predicted = printable(reading.next[0].text)
    lines += ["", f"direct effect on the logit of {predicted}", *_strongest(reading, reading.direct.heads)]
    direct = reading.direct
    mlps, biases = sum(direct.mlps), sum(direct.attention_biases) + direct.biases
    heads = sum(map(sum, direct.heads))
    lines.append(
        f"  all heads {heads:+.2f}, MLPs {mlps:+.2f}, embedding {direct.embedding:+.2f}, biases {biases:+.2f}: "
        f"{direct.total:+.2f}"
    )
    if ablation is not None:
        how = f"{INSTEAD[ablation.instead]} in its place, {POSITIONS[ablation.positions]}"
        title = f"change of its log-probability without a head ({how})"
        lines += ["", title, *_strongest(reading, ablation.heads)]
    for pattern in reading.patterns:
        lines += ["", f"{pattern.head} looks", *_looks(reading.tokens, pattern)]
    return "\n".join(lines)


def _strongest(reading: PromptReading, effects: Matrix) -> list[str]:
    """The heads with the largest effects of either sign."""
    heads = []
    for layer, row in zip(reading.layers, effects, strict=True):
        heads += [(effect, f"L{layer}H{head}") for head, effect in enumerate(row)]
    heads.sort(key=lambda one: -abs(one[0]))
    return [f"  {name:8} {effect:+.3f}" for effect, name in heads[:_TOP]]


def _looks(tokens: Sequence[Token], pattern: HeadPattern) -> list[str]:
    """For every token those that it attends to most."""
    lines = []
    for query, row in enumerate(pattern.attention):
        keys = sorted(range(query + 1), key=lambda key: -row[key])[:_SHOWN]
        seen = ", ".join(f"{printable(tokens[key].text)} ({key}) {row[key]:.2f}" for key in keys if row[key] >= 0.01)
        lines.append(f"  {query:3} {printable(tokens[query].text):16} at {seen}")
    return lines
