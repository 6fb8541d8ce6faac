"""What salient tokens say of a head in words, and which heads promote or suppress a token."""

from collections.abc import Iterator
from functools import lru_cache

import pyarrow.compute as pc

from analysis.data.printable import printable
from analysis.methods.salience.tokens import NAME, salient_tokens
from analysis.models.card import HeadId
from analysis.results.findings import KIND_WORDS, Finding, SearchQuestion
from analysis.results.scores import Scores

_SHOWN = 3  # tokens in a sentence
_WHERE = "by its weights alone"
_WEAKEST = 0.1  # strength of the last of a head's tokens: relations, which are tested on many pairs, go first
_STRONGEST = 0.3

Entry = tuple[HeadId, str, str, str, int]  # head, verb, salient token, what it promotes or suppresses, the rank
Index = dict[tuple[str, ...], list[Entry]]  # by the words of what is promoted or suppressed


def salience_findings(scores: Scores, head: HeadId) -> list[Finding]:
    """The tokens on which the head acts most, and what the first of them makes likelier."""
    tokens = salient_tokens(scores, head) or ()
    if not tokens:
        return []
    listed = ", ".join(printable(token.text) for token in tokens[:_SHOWN])
    promoted = ", ".join(printable(entry.text) for entry in tokens[0].promoted[:_SHOWN])
    text = f"Acts most on the tokens {listed} ({_WHERE}); after {printable(tokens[0].text)} it promotes {promoted}."
    return [Finding(head, text, _WEAKEST, NAME)]


def salience_answers(scores: Scores, question: SearchQuestion) -> list[Finding]:
    """The heads that promote or suppress a token for one of the tokens on which they act most."""
    asked_verbs = [verb for kind in question.kinds for verb in KIND_WORDS[kind]]
    findings: list[Finding] = []
    told: set[tuple[HeadId, str, str]] = set()  # the same word with and without its space is one finding
    for head, verb, source, text, rank in _entries_for(scores, question.topic):
        if (head, verb, source) in told or (asked_verbs and verb.lower() not in asked_verbs):
            continue
        told.add((head, verb, source))
        of_tokens = f"no. {rank + 1} of its salient tokens"
        words = f"{verb} “{printable(text)}” when it attends to “{printable(source)}”, {_WHERE} ({of_tokens})."
        strength = max(_WEAKEST, _STRONGEST - rank / 100)
        findings.append(Finding(head, words, strength, NAME, kind=verb.lower()))
    return sorted(findings, key=lambda finding: finding.order)


def _entries_for(scores: Scores, topic: SearchQuestion) -> list[Entry]:
    """The tokens that a question names, capitals as they were typed; alone, or behind a salient token."""
    index = _index(scores)
    found = [entry for entry in index.get(topic.words, []) if topic.is_exactly(entry[3])]
    for source, target in topic.split():
        for entry in index.get(target.words, []):
            if source.is_exactly(entry[2]) and target.is_exactly(entry[3]):
                found.append(entry)
    return found


@lru_cache(maxsize=8)
def _index(scores: Scores) -> Index:
    """Every promoted and suppressed token of all heads, by its words in lower case."""
    index: Index = {}
    words: dict[str, tuple[str, ...]] = {}  # of the texts that were seen
    for name, verb in (("promoted", "Promotes"), ("suppressed", "Suppresses")):
        for row, source, text in _entries(scores, name):
            if text not in words:
                words[text] = SearchQuestion.of(text).words
            rank, head = _place(scores, row)
            index.setdefault(words[text], []).append((head, verb, source, text, rank))
    return index


def _entries(scores: Scores, name: str) -> Iterator[tuple[int, str, str]]:
    """The texts of a column of lists: the row and the salient token of each."""
    if name not in scores.columns:
        return
    column, sources = scores.columns[name], scores.columns["text"].to_pylist()
    rows = pc.list_parent_indices(column).to_pylist()
    texts = pc.struct_field(column.flatten(), "text").to_pylist()
    for row, text in zip(rows, texts, strict=True):
        yield row, sources[row], text


def _place(scores: Scores, row: int) -> tuple[int, HeadId]:
    """The rank and the head of a row of the scores."""
    card = scores.provenance.model
    rank, of_rank = divmod(row, len(card.layers) * card.heads)
    at, head = divmod(of_rank, card.heads)
    return rank, HeadId(card.layers[at], head)
