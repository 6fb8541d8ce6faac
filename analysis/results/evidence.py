"""All results of a model together: what they support about a head, heads like it, heads that a question is about."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis import methods
from analysis.errors import HeadError
from analysis.models.card import HeadId, ModelCard
from analysis.results.catalogue import Catalogue
from analysis.results.findings import Finding, Question
from analysis.results.provenance import Data
from analysis.results.scores import Floats, Scores

MOST_ANSWERS = 40
_MOST_ALIKE = 6
_LEAST_ALIKE = 0.3  # cosine from which two heads are called alike


@dataclass(frozen=True)
class Alike:
    """A head whose scores are like another's."""

    head: HeadId
    cosine: float


@dataclass(frozen=True)
class Answer:
    """A head that a question is about, with all that was found of it, the strongest first."""

    head: HeadId
    findings: tuple[Finding, ...]

    @property
    def strength(self) -> float:
        """Of the strongest finding."""
        return max((finding.strength for finding in self.findings), default=1.0)

    def to_plain(self) -> Data:
        """As the API and `--json` tell it."""
        return {"head": str(self.head), "findings": [finding.to_plain() for finding in self.findings]}


def results_of(catalogue: Catalogue, card: ModelCard) -> dict[str, Scores]:
    """The results of a model by the names of their methods."""
    results = {}
    for method in methods.METHODS:
        scores = catalogue.result(card, method.name)
        if scores is not None:
            results[method.name] = scores
    return results


def findings_of(results: Mapping[str, Scores], head: HeadId) -> list[Finding]:
    """What all results support about a head: method by method, the strongest first in each."""
    findings: list[Finding] = []
    for name, scores in results.items():
        findings += methods.method(name).findings(scores, head)
    return findings


def answers(results: Mapping[str, Scores], card: ModelCard, text: str) -> list[Answer]:
    """The heads that a search is about: a head's own name, or words that a method knows."""
    try:
        head = card.check(HeadId.parse(text))
    except HeadError:
        pass
    else:
        return [Answer(head, tuple(findings_of(results, head)))]
    question = Question.of(text)
    by_head: dict[HeadId, list[Finding]] = {}
    for name, scores in results.items():
        for finding in methods.method(name).answers(scores, question):
            by_head.setdefault(finding.head, []).append(finding)
    listed = [Answer(head, _strongest_first(findings)) for head, findings in by_head.items()]
    listed.sort(key=lambda answer: (-answer.strength, answer.head))
    return listed[:MOST_ANSWERS]


def _strongest_first(findings: list[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: -finding.strength))


def heads_like(results: Mapping[str, Scores], card: ModelCard, head: HeadId) -> list[Alike]:
    """The heads whose scores of all methods point in the same direction; a head without any score is like none."""
    profiles = _profiles(results, card)  # [head, number]
    mine = profiles[card.layers.index(head.layer) * card.heads + head.head]
    lengths = np.linalg.norm(profiles, axis=1) * np.linalg.norm(mine)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = np.nan_to_num(profiles @ mine / lengths)
    alike: list[Alike] = []
    for place in np.argsort(-cosines, kind="stable"):
        other = HeadId(card.layers[int(place) // card.heads], int(place) % card.heads)
        if cosines[place] < _LEAST_ALIKE or len(alike) == _MOST_ALIKE:
            break
        if other != head:
            alike.append(Alike(other, float(cosines[place])))
    return alike


def _profiles(results: Mapping[str, Scores], card: ModelCard) -> Floats:  # [head, number]
    """Every head as the numbers that all methods have of it; each method weighs the same."""
    blocks = []
    for scores in results.values():
        mean = scores.score.mean("sample", skipna=True).values  # [item, kind, layer, head]
        block = np.nan_to_num(mean).reshape(-1, len(card.layers) * card.heads).T
        block = block - np.median(block, axis=0)  # what all heads have tells none apart
        size = np.linalg.norm(block)
        if size > 0:
            blocks.append(block / size)
    if not blocks:
        return np.zeros((len(card.layers) * card.heads, 1))
    return np.concatenate(blocks, axis=1)
