"""Questions about a prompt as steps that a worker does when somebody asks; the answers are kept in the store."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.errors import SettingError
from analysis.method import digest
from analysis.models.card import HeadId, ModelCard
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import Tokens, Vocabulary
from analysis.progress import Progress, silent
from analysis.prompt import reading as wording
from analysis.prompt.reading import Direct, HeadPattern, NextToken, PromptAblation, PromptReading, Token
from analysis.results.provenance import JsonObject, Provenance
from analysis.results.store import Store

if TYPE_CHECKING:
    from analysis.compute.variants import Positions
    from analysis.prompt.compute.model import PromptModel, Run

MAX_CHARACTERS = 2000
MAX_TOKENS = 200
MAX_HEADS = 8
TOP = 10  # next tokens
NOTHING = "none"  # in place of the positions at which heads are switched off
POSITIONS = (*wording.POSITIONS, NOTHING)
ABLATE = "last"  # where nobody chose
INSTEAD = tuple(wording.INSTEAD)
PATIENCE = 120.0  # seconds that a question waits: the first one loads the model
_VERSION = 2  # raise whenever the answer may come out differently
# Multiplications and additions of an ablation on a CPU: about 20 seconds of a core, a minute or two at the last token.
_MOST_WORK = {"all": 1.8e12, "last": 1.2e13}
_KEPT = "prompt"  # the model that stays in memory, and the name of all this in provenance
_DIGITS = 6


@dataclass(frozen=True)
class ReadingStep:
    """Tokens, next tokens, direct effects and the patterns of some heads."""

    key: str
    text: str
    heads: tuple[HeadId, ...]
    words: str = "reading the prompt"

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """One piece: a `PromptReading`."""
        yield self.key, _read(model, self.text, self.heads).to_json()


@dataclass(frozen=True)
class AblationStep:
    """Every head switched off in turn."""

    key: str
    text: str
    positions: str
    instead: str
    words: str = "switching heads off"

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """One piece: a `PromptAblation`."""
        yield self.key, _ablated(model, self).to_json()


@dataclass(frozen=True)
class PromptQuestion:
    """A text, the heads whose patterns are wanted, where heads are switched off and what stands in their place."""

    text: str
    heads: tuple[HeadId, ...] = ()
    ablate: str = NOTHING
    instead: str = INSTEAD[0]

    def reading(self, card: ModelCard) -> ReadingStep:
        """What reads it; raises what a person can fix."""
        self.check()
        heads = tuple(dict.fromkeys(card.check(head) for head in self.heads))
        return ReadingStep(_key(card, ["reading", self.text, [str(head) for head in heads]]), self.text, heads)

    def ablation(self, card: ModelCard) -> AblationStep | None:
        """What switches heads off, if that was asked."""
        self.check()
        if self.ablate == NOTHING:
            return None
        key = _key(card, ["without", self.text, self.ablate, self.instead])
        return AblationStep(key, self.text, self.ablate, self.instead)

    def check(self) -> None:
        """Raise what a person can fix without knowing the model."""
        if not self.text.strip():
            raise SettingError("there is no text", "Type a few words.")
        if len(self.text) > MAX_CHARACTERS:
            message = f"the text has {len(self.text):,} characters"
            raise SettingError(message, f"At most {MAX_CHARACTERS:,} are allowed.")
        if any("\ud800" <= character <= "\udfff" for character in self.text):
            raise SettingError("the text contains an unpaired surrogate", "Type it again.")
        if len(self.heads) > MAX_HEADS:
            raise SettingError(f"{len(self.heads)} heads are too many", f"Choose at most {MAX_HEADS}.")
        if self.ablate not in POSITIONS:
            raise SettingError(
                f"heads cannot be switched off at {self.ablate[:40]!r}", f"Choose {', '.join(POSITIONS)}."
            )
        if self.instead not in INSTEAD:
            raise SettingError(f"a head cannot be replaced by {self.instead[:40]!r}", f"Choose {', '.join(INSTEAD)}.")


def computed_answer(
    question: PromptQuestion, model: OpenModel, store: Store, progress: Progress = silent
) -> tuple[PromptReading, PromptAblation | None]:
    """The answer, from the store or computed in this process."""
    card = model.checkpoint.card
    reading = PromptReading.from_json(_done(question.reading(card), model, store, progress))
    step = question.ablation(card)
    ablation = None if step is None else PromptAblation.from_json(_done(step, model, store, progress))
    return reading, ablation


def _done(step: Any, model: OpenModel, store: Store, progress: Progress) -> bytes:
    content = store.get(step.key)
    if content is None:
        progress(step.words, 0, 1)
        [(name, content)] = step.run(model, progress)
        store.put(name, content)
    return content


def _key(card: ModelCard, what: Sequence[Any]) -> str:
    return f"unit/{card.fingerprint}/{_KEPT}/{digest([_VERSION, *what])}"


# ---- On the worker ---------------------------------------------------------------------------------------------------


def _read(model: OpenModel, text: str, heads: Sequence[HeadId]) -> PromptReading:
    from analysis.compute.weights import memory_of, open_device
    from analysis.prompt.compute.direct import direct_effects

    vocabulary = Vocabulary.open(model.checkpoint.folder)
    tokens = _tokens(vocabulary, text, model.checkpoint.card)
    with memory_of(open_device(model.device)):
        reader = _reader(model)
        run = reader.run(tokens.ids)
        following = _next(reader, run, vocabulary)
        effects = direct_effects(reader, run, following[0].id)
    patterns = []
    for head in heads:
        pattern = run.patterns[reader.checkpoint.card.layers.index(head.layer)][head.head]
        patterns.append(HeadPattern(str(head), _rounded(pattern)))
    return PromptReading(
        text=text,
        tokens=tuple(Token(token, vocabulary.text(token)) for token in tokens.ids),
        next=following,
        layers=reader.checkpoint.card.layers,
        direct=Direct(
            heads=_rounded(effects.heads),
            mlps=_rounded(effects.mlps),
            attention_biases=_rounded(effects.attention_biases),
            embedding=round(effects.embedding, _DIGITS),
            biases=round(effects.biases, _DIGITS),
            total=round(effects.total(), _DIGITS),
        ),
        patterns=tuple(patterns),
        provenance=_provenance(model, {"text": text, "heads": [str(head) for head in heads]}),
    )


def _ablated(model: OpenModel, asked: AblationStep) -> PromptAblation:
    from analysis.compute.weights import memory_of, open_device
    from analysis.prompt.compute.ablation import each_head_off

    tokens = _tokens(Vocabulary.open(model.checkpoint.folder), asked.text, model.checkpoint.card)
    positions: Positions = "all" if asked.positions == "all" else "last"
    with memory_of(open_device(model.device)):
        reader = _reader(model)
        _must_be_small(reader, len(tokens.ids), positions)
        token = int(reader.run(tokens.ids).logits.argmax())
        change = each_head_off(reader, tokens.ids, token, positions, asked.instead)
    made = _provenance(model, {"text": asked.text, "positions": positions, "instead": asked.instead})
    return PromptAblation(positions, asked.instead, _rounded(change), made)


def _must_be_small(reader: "PromptModel", tokens: int, positions: "Positions") -> None:
    """Refuse what would keep a CPU busy for long: nobody else would get an answer meanwhile."""
    work, most = reader.ablated.operations(tokens, positions), _MOST_WORK[positions]
    if reader.device.type != "cpu" or work <= most:
        return
    hint = "Use a GPU."
    if positions == "all":
        hint = f"Switch heads off at the last one, shorten it to {int(tokens * most / work)} tokens, or use a GPU."
    name = reader.checkpoint.card.id
    raise SettingError(f"switching off every head of {name} on {tokens} tokens would take too long", hint)


def _provenance(model: OpenModel, settings: JsonObject) -> JsonObject:
    """Where an answer comes from."""
    made = Provenance.now(model.checkpoint.card, _KEPT, str(_VERSION), settings, (), model.device_name)
    plain: JsonObject = json.loads(made.to_json())
    return plain


def _reader(model: OpenModel) -> "PromptModel":
    from analysis.compute.weights import device_name, open_device
    from analysis.prompt.compute.model import PromptModel

    device = open_device(model.device)
    model.device_name = device_name(device)
    return model.keep(_KEPT, lambda: PromptModel(model.checkpoint, device))


def _tokens(vocabulary: Vocabulary, text: str, card: ModelCard) -> Tokens:
    [tokens] = vocabulary.encoded([text])
    if not tokens.ids or max(tokens.ids) >= card.vocabulary:
        raise SettingError("the model has no tokens for this text", "Type other words.")
    if len(tokens.ids) > MAX_TOKENS:
        raise SettingError(f"the text has {len(tokens.ids)} tokens", f"At most {MAX_TOKENS} are allowed.")
    return tokens


def _next(reader: "PromptModel", run: "Run", vocabulary: Vocabulary) -> tuple[NextToken, ...]:
    """The likeliest tokens to follow."""
    log_probs = reader.log_probs(run.logits)
    centred = run.logits - run.logits.mean()
    best = log_probs.topk(min(TOP, len(log_probs))).indices
    following = []
    for token in best.tolist():
        log_prob = float(log_probs[token])
        numbers = (float(log_probs[token].exp()), log_prob, float(centred[token]))
        following.append(NextToken(token, vocabulary.text(token), *(round(number, _DIGITS) for number in numbers)))
    return tuple(following)


def _rounded(values: Any) -> Any:
    """A tensor as lists of numbers with a few digits."""
    return values.double().mul(10**_DIGITS).round().div(10**_DIGITS).tolist()
