"""A model's tokenizer as the methods need it: which words are single tokens, and the text of a token."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, Self, cast

from analysis.data.relations import Relation
from analysis.errors import SettingError, TokenizerMissing

MIN_PAIRS = 30  # with fewer kept pairs a relation says too little about the heads of a model

_WORD_START = ("Ġ", "▁")
_FILES = {".json", ".model", ".txt"}  # of tokenizers


@dataclass(frozen=True)
class Tokens:
    """A text as tokens, each with the span of its characters: its first one, and the one after its last."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


class _Backend(Protocol):
    def encode_batch(self, texts: list[str], add_special_tokens: bool) -> list[Any]: ...
    def decode(self, ids: list[int], skip_special_tokens: bool) -> str: ...
    def id_to_token(self, token: int) -> str | None: ...
    def token_to_id(self, text: str) -> int | None: ...
    def get_vocab_size(self) -> int: ...
    def get_added_tokens_decoder(self) -> dict[int, Any]: ...
    def no_padding(self) -> None: ...
    def no_truncation(self) -> None: ...


class Vocabulary:
    """Words to single tokens and back."""

    def __init__(self, backend: _Backend, bos: str = "", adds_bos: bool | None = None) -> None:
        """`bos` is the token that begins a text if `adds_bos`; None leaves it to the tokenizer."""
        self._backend = backend
        self._bos = backend.token_to_id(bos) if bos else None
        self._adds_bos = adds_bos
        backend.no_padding()  # both may be saved with a tokenizer and would change what one word becomes
        backend.no_truncation()

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The tokenizer of a checkpoint folder; the last one is not read again while its files stay as they are."""
        return cls._read(folder, *_versions(folder))

    @classmethod
    @lru_cache(maxsize=1)  # that of a large vocabulary takes a second to read, and hundreds of megabytes
    def _read(cls, folder: Path, *versions: tuple[int, ...]) -> Self:
        path = folder / "tokenizer.json"
        bos, adds_bos = _bos(folder)
        try:
            if path.exists():
                from tokenizers import Tokenizer

                return cls(cast(_Backend, Tokenizer.from_file(str(path))), bos, adds_bos)._not_empty()
            from transformers import AutoTokenizer  # older checkpoints ship vocab and merges only; it converts them

            backend = AutoTokenizer.from_pretrained(folder, trust_remote_code=False).backend_tokenizer
            return cls(backend, bos, adds_bos)._not_empty()
        except Exception as error:  # both libraries raise bare exceptions for whatever is wrong with a file
            raise TokenizerMissing(
                f"the tokenizer of {folder.name} cannot be read", "Copy tokenizer.json from the model's source."
            ) from error

    def _not_empty(self) -> Self:
        if not len(self):
            raise ValueError("a tokenizer without tokens")
        return self

    def __len__(self) -> int:
        return self._backend.get_vocab_size()

    def text(self, token: int) -> str:
        """The text of a token, with the space at the start of a word."""
        text = self._backend.decode([token], skip_special_tokens=False)
        name = self._backend.id_to_token(token) or ""
        if "\ufffd" in text and "\ufffd" not in name:
            return name  # a piece of a character
        if name.startswith("▁") and not text.startswith(" "):
            return f" {text}"
        return text

    def encoded(self, texts: Sequence[str]) -> list[Tokens]:
        """Whole texts as the model reads them: with the special token at the start, if any, but none at the end."""
        texts_as_tokens = []
        for encoding in self._backend.encode_batch(list(texts), add_special_tokens=True):
            end = len(encoding.ids)
            while end and encoding.special_tokens_mask[end - 1]:
                end -= 1
            start = self._leading_bos(encoding, end)
            ids, spans = tuple(encoding.ids[start:end]), tuple(encoding.offsets[start:end])
            if self._bos is not None and self._adds_bos:
                ids, spans = (self._bos, *ids), ((0, 0), *spans)
            texts_as_tokens.append(Tokens(ids, spans))
        return texts_as_tokens

    def _leading_bos(self, encoding: Any, end: int) -> int:
        """How many tokens at the start are to go: all BOS when one is added here, else one that was to be left out."""
        if self._bos is None or self._adds_bos is None:
            return 0
        start = 0
        while start < end and encoding.ids[start] == self._bos:
            if not self._adds_bos and not encoding.special_tokens_mask[start]:
                break  # written in the text itself
            start += 1
        return start

    def prefix(self, text: str) -> tuple[int, ...]:
        """The tokens of a text as the beginning of a prompt, after BOS where it belongs."""
        return self.encoded([text])[0].ids

    def plain_tokens(self, size: int) -> tuple[int, ...]:
        """Tokens that stand for text, in order: no special ones, and none beyond the model's `size`."""
        special = self._backend.get_added_tokens_decoder()
        return tuple(token for token in range(min(len(self), size)) if token not in special)

    def following(self, text: str) -> tuple[int, ...]:
        """The tokens of a text that goes on after a space; of an empty one none."""
        if not text:
            return ()
        [ids] = self._in_a_text([text])
        if not ids:
            raise SettingError(f"the tokenizer does not know {text[:80]!r}", "Use other words.")
        return ids

    def single(self, words: Iterable[str]) -> dict[str, int]:
        """The words that are exactly one token at the start of a word, with that token.

        One space is put before the word. A tokenizer that adds a space by itself would then see two, so the bare word
        is tried as well, and taken when its token is marked as the start of a word.
        """
        words = sorted(set(words))
        spaced = self._backend.encode_batch([f" {word}" for word in words], add_special_tokens=False)
        bare = self._backend.encode_batch(words, add_special_tokens=False)
        tokens: dict[str, int] = {}
        for word, with_space, without in zip(words, spaced, bare, strict=True):
            if len(with_space.ids) == 1:
                token = with_space.ids[0]
            elif len(without.ids) == 1 and without.tokens[0].startswith(_WORD_START):
                token = without.ids[0]
            else:
                continue
            # The token for unknown words is another text than the word.
            if self.text(token).strip().casefold() == word.casefold():
                tokens[word] = token
        return tokens

    def keep(self, relation: Relation, size: int | None = None) -> tuple[tuple[int, int], ...]:
        """The relation's pairs in which both words are one token, as tokens, without repeats.

        `size` is the number of embeddings; some tokenizers have tokens that the model has no embedding for.
        """
        kept = []
        for source, target in self.keep_several(relation, size):
            if len(source) == 1:
                kept.append((source[0], target))
        return tuple(kept)

    def keep_several(self, relation: Relation, size: int | None = None) -> tuple[tuple[tuple[int, ...], int], ...]:
        """The same with sources of any number of tokens."""
        tokens = self.single(word for pair in relation.pairs for word in pair)
        longer = sorted({source for source, _ in relation.pairs} - set(tokens))
        sources = dict(zip(longer, self._in_a_text(longer), strict=True))
        for word, token in tokens.items():
            sources[word] = (token,)
        kept: dict[tuple[tuple[int, ...], int], None] = {}  # a dict keeps the order, a set would not
        for source, target in relation.pairs:
            if target not in tokens or not sources[source]:
                continue
            if size is None or max(*sources[source], tokens[target]) < size:
                kept[sources[source], tokens[target]] = None
        return tuple(kept)

    def _in_a_text(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """The tokens of each word where it stands after another one; none if the tokenizer does not know it."""
        spaced = self._backend.encode_batch([f" {word}" for word in words], add_special_tokens=False)
        bare = self._backend.encode_batch(list(words), add_special_tokens=False)
        encodings = []
        for word, with_space, without in zip(words, spaced, bare, strict=True):
            adds_space = bool(without.tokens) and without.tokens[0].startswith(_WORD_START)
            ids = tuple((without if adds_space else with_space).ids)
            same = self._backend.decode(list(ids), skip_special_tokens=False).strip().casefold() == word.casefold()
            encodings.append(ids if same else ())
        return encodings


def _versions(folder: Path) -> list[tuple[int, ...]]:
    """What changes when a file of the tokenizer does."""
    versions: list[tuple[int, ...]] = []
    for path in sorted(folder.glob("*")):
        if path.suffix in _FILES and path.is_file():
            status = path.stat()
            versions.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return versions


def _bos(folder: Path) -> tuple[str, bool | None]:
    """The token that begins texts, and whether it is to be added, as far as tokenizer_config.json says so.

    Most tokenizers say it in tokenizer.json as well, but not all: those that come from GGUF files do not.
    """
    try:
        config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        token, adds_bos = config.get("bos_token"), config.get("add_bos_token")
    except (OSError, ValueError, AttributeError, RecursionError):
        return "", None
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else "", adds_bos if isinstance(adds_bos, bool) else None
