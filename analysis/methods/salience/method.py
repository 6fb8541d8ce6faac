"""Salient tokens as a method: its settings, its file, what it says of a head."""

import gzip
import json
from collections.abc import Sequence
from typing import Any

from analysis.data.printable import printable
from analysis.method import Method
from analysis.methods.salience.findings import salience_answers, salience_findings
from analysis.methods.salience.plan import SaliencePlan
from analysis.methods.salience.tokens import (
    NAME,
    TITLE,
    VERSION,
    OutputToken,
    computed_layers,
    joined_layers,
    layer_table,
    salience_scores,
    salient_tokens,
    upgraded,
)
from analysis.models.card import HeadId, ModelCard
from analysis.options import Command
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.provenance import JsonObject, Provenance, ScoredItem
from analysis.results.scores import Missing, Scores
from analysis.results.store import Store
from analysis.shared_settings import WeightsSettings

JSON = ".json.gz"


class SalienceMethod(Method):
    """The tokens on which a head acts most strongly, and what it then promotes and suppresses."""

    name = NAME
    title = TITLE
    sentence = "The tokens on which each head acts most: a minute or two."
    version = VERSION
    settings = WeightsSettings
    by_default = True
    not_of_head = ("layers",)
    of_weights = True
    tells_heads_apart = False  # σ says how strongly a head acts, not on what
    commands = (Command("salience", "the tokens on which every head acts most", ("first_mlp", "layers")),)
    outputs = (JSON, ".parquet", ".csv")

    def plan(self, card: ModelCard, settings: WeightsSettings) -> SaliencePlan:
        """For a model."""
        return SaliencePlan(card, settings.first_mlp, settings.chosen_layers(card))

    def for_head(self, settings: WeightsSettings, head: HeadId) -> WeightsSettings:
        """The head's own layer is enough."""
        return settings.model_copy(update={"layers": [head.layer]})

    def pieces(self, card: ModelCard, store: Store) -> tuple[str, ...]:
        """Layers that were computed."""
        return tuple(store.names(f"{NAME}/{card.fingerprint}/"))

    def recovered(self, card: ModelCard, store: Store) -> Scores | None:
        """Layers that were computed alone, or by a version that wrote no result of the whole."""
        return SaliencePlan(card, True, card.layers).assembled(store, "")

    def rank(self, scores: Scores) -> Any:
        """Any at all, then with the first MLP, then more layers, then the newer result."""
        present = int((scores.missing == Missing.PRESENT).sum())
        return present > 0, bool(scores.provenance.settings.get("first_mlp")), present, scores.provenance.date

    def merged(self, results: Sequence[Scores], first: Scores | None = None) -> Scores:
        """The layers of all results that were computed in the same way."""
        ordered = sorted(results, key=self.rank, reverse=True)
        best = first or ordered[0]
        alike = [other for other in ordered if self.mergeable(other.provenance) == self.mergeable(best.provenance)]
        return best if len(alike) == 1 else joined_layers([best, *alike])

    def words(self, provenance: Provenance) -> str:
        """There is one kind only."""
        return "every head"

    def report(self, scores: Scores) -> JsonObject:
        """How many heads."""
        card = scores.provenance.model
        return {"model": card.to_dict(), "heads": len(card.layers) * card.heads}

    def report_text(self, scores: Scores) -> str:
        """The same in words."""
        card = scores.provenance.model
        return f"salient tokens of {len(card.layers) * card.heads} heads of {card.id}"

    def head(self, scores: Scores, head: HeadId) -> JsonObject:
        """A head's salient tokens."""
        tokens = salient_tokens(scores, head) or ()
        return {"salient": [token.model_dump(exclude_none=True) for token in tokens]}

    def no_head(self, card: ModelCard, head: HeadId) -> JsonObject:
        """No tokens."""
        return {"salient": []}

    def head_text(self, scores: Scores, head: HeadId) -> list[str]:
        """The same for a terminal."""
        lines = ["salient tokens (σ), from the weights alone  → promotes | suppresses"]
        for token in salient_tokens(scores, head) or ():
            promoted, suppressed = (_texts(entries) for entries in (token.promoted, token.suppressed))
            lines.append(f"{printable(token.text):>18} {token.sigma:6.2f}  → {promoted} | {suppressed}")
        return lines

    def findings(self, scores: Scores, head: HeadId) -> list[Finding]:
        """What the head acts on."""
        return salience_findings(scores, head)

    def answers(self, scores: Scores, question: SearchQuestion) -> list[Finding]:
        """The heads that promote or suppress a token."""
        return salience_answers(scores, question)

    def exported(self, scores: Scores, ending: str) -> bytes:
        """As compressed JSON: the same bytes each time they are made of the same numbers."""
        if ending != JSON:
            return super().exported(scores, ending)
        card = scores.provenance.model
        layers: JsonObject = {}
        for layer in computed_layers(scores):
            layers[str(layer)] = [_short(scores, HeadId(layer, head)) for head in range(card.heads)]
        content = {"model": card.to_dict(), "layers": layers}
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return gzip.compress(text.encode(), mtime=0)

    def read(self, content: bytes) -> Scores:
        """A file that `exported` wrote as JSON, or any other of ours."""
        if content[:2] != b"\x1f\x8b":
            return super().read(content)
        values = json.loads(gzip.decompress(content))
        card = ModelCard.from_dict(values["model"])
        layers = {int(layer): layer_table(heads) for layer, heads in values["layers"].items()}
        item = ScoredItem(NAME, TITLE, NAME)
        made = Provenance(card, NAME, VERSION, {"first_mlp": True}, (item,), "", {}, "", "")
        return salience_scores(card, layers, True, "", made)

    def upgraded(self, scores: Scores) -> Scores:
        """The first version kept the tokens as text."""
        return super().upgraded(upgraded(scores))


def _texts(entries: Sequence[OutputToken]) -> str:
    return " ".join(printable(entry.text) for entry in entries)


def _short(scores: Scores, head: HeadId) -> list[JsonObject]:
    """A head's tokens with three decimals."""
    listed = []
    for token in salient_tokens(scores, head) or ():
        promoted = [{"text": entry.text} for entry in token.promoted]
        suppressed = [{"text": entry.text} for entry in token.suppressed]
        listed.append(
            {"text": token.text, "sigma": round(token.sigma, 3), "promoted": promoted, "suppressed": suppressed}
        )
    return listed
