"""What salient tokens say of a head in words, and which heads promote or suppress a token."""

import json
from functools import lru_cache

from analysis.data.printable import printable
from analysis.methods.salience.tokens import NAME, salient_tokens
from analysis.models.card import HeadId
from analysis.results.findings import Finding, Question
from analysis.results.scores import Scores

_SHOWN = 3  # tokens in a sentence
_WEAKEST = 0.1  # strength of the last of a head's tokens: relations, which are tested on many pairs, go first
_STRONGEST = 0.3

Index = dict[str, list[tuple[HeadId, str, str, int]]]  # by a token's word: head, verb, salient token, its rank


def salience_findings(scores: Scores, head: HeadId) -> list[Finding]:
    """The tokens on which the head acts most, and what the first of them makes likelier."""
    tokens = salient_tokens(scores, head) or ()
    if not tokens:
        return []
    listed = ", ".join(printable(token.text) for token in tokens[:_SHOWN])
    promoted = ", ".join(printable(entry.text) for entry in tokens[0].promoted[:_SHOWN])
    text = f"Acts most on the tokens {listed}; after {printable(tokens[0].text)} it promotes {promoted}."
    return [Finding(head, text, _WEAKEST, NAME)]


def salience_answers(scores: Scores, question: Question) -> list[Finding]:
    """The heads that promote or suppress a token for one of the tokens on which they act most."""
    word = " ".join(question.words)
    if not word:
        return []
    texts = tuple(sorted(scores.records.get(NAME, {}).items()))
    findings = []
    for head, verb, source, rank in dict.fromkeys(_index(texts).get(word, [])):  # a word may be several tokens
        text = f"{verb} {word} when it attends to {printable(source)} (no. {rank + 1} of its salient tokens)."
        strength = max(_WEAKEST, _STRONGEST - rank / 100)
        findings.append(Finding(head, text, strength, NAME, kind=verb.lower()))
    return sorted(findings, key=lambda finding: finding.order)


@lru_cache(maxsize=8)
def _index(layers: tuple[tuple[str, str], ...]) -> Index:
    """Every promoted and suppressed token of all heads, from each layer's JSON."""
    index: Index = {}
    for layer, text in layers:
        for head, tokens in enumerate(json.loads(text)):
            for rank, token in enumerate(tokens):
                for verb, entries in (("Promotes", token["promoted"]), ("Suppresses", token["suppressed"])):
                    for entry in entries:
                        word = _word(entry)
                        index.setdefault(word, []).append((HeadId(int(layer), head), verb, token["text"], rank))
    return index


def _word(entry: dict[str, str] | str) -> str:
    """A token as a question has it; files that ship have texts alone."""
    text = entry if isinstance(entry, str) else entry["text"]
    return " ".join(Question.of(text).words)
