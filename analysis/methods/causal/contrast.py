"""Contrastive gates: the heads that one behaviour needs and another does not. Nothing here loads torch.

Matched pairs (forget, retain); one fit minimises clip(log P(forget) − log P(retain), 5) − λ · mean clamp(logit). The
clip is on one side, at −5: a pair told apart well enough counts no more, one the wrong way round always does. A gate
that closes belongs to a head that makes the forgotten likely and that the kept can do without: it counts as
facilitating what is to be forgotten, F = 1 − G.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from analysis.data.tasks import Contrast
from analysis.errors import SettingError
from analysis.methods.causal.fits import Fit
from analysis.methods.causal.plan import (
    CAUSAL_VERSION,
    CHUNK,
    MAX_SEEDS,
    METHOD,
    Floats,
    GateSettings,
    Step,
    causal_result,
    readable,
)
from analysis.models.card import ModelCard
from analysis.results.inventory import remember
from analysis.results.scores import Scores
from analysis.results.store import Store


def without_pushes(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a fit without those of a second stage, which contrasts do not have."""
    return {name: value for name, value in settings.items() if name not in {"push_updates", "push_rate"}}


@dataclass(frozen=True)
class ContrastPlan:
    """The contrastive gates of a model; all seeds share their batches."""

    model: ModelCard
    contrast: Contrast
    seeds: int = 1
    settings: GateSettings = field(default_factory=GateSettings)

    def __post_init__(self) -> None:
        if not 1 <= self.seeds <= MAX_SEEDS:
            raise SettingError(f"{self.seeds} seeds make no sense", f"Choose 1 to {MAX_SEEDS}.")

    @property
    def key(self) -> str:
        """The name of the finished result."""
        return f"result/{self.model.fingerprint}/{METHOD}/{self._hash()}"

    @property
    def unit(self) -> str:
        """The name of the fit, under way or done."""
        return f"unit/{self.model.fingerprint}/{METHOD}/{self._hash()}"

    @property
    def total(self) -> int:
        """Steps of the fit."""
        return -(-self.settings.free_updates // CHUNK)

    def left(self, store: Store) -> int:
        """Steps that are still to be done."""
        content = readable(store.get(self.unit))
        return self.total - (-(-Fit.from_bytes(content).update // CHUNK) if content else 0)

    def ready(self, store: Store) -> list[Step]:
        """The next piece of the fit, or nothing when it is done."""
        content = readable(store.get(self.unit))
        if content and Fit.from_bytes(content).update >= self.settings.free_updates:
            return []
        return [Step("contrast", self.unit, self.contrast, self.settings, tuple(range(self.seeds)), content=content)]

    def keep(self, step: Step, content: bytes, store: Store) -> None:
        """Store the fit so far."""
        store.put(step.key, content)

    def assembled(self, store: Store, device: str) -> Scores:
        """The gates so far as scores."""
        content = readable(store.get(self.unit))
        roles: dict[int, Floats] = {}
        curves: dict[str, list[Any]] = {"seeds": [], "free": [], "open": [], "shut": []}
        if content:
            fit = Fit.from_bytes(content)
            gates = 1 / (1 + np.exp(-fit.logits.astype(np.float64)))
            nothing = np.full_like(gates[0], np.nan)  # one fit cannot tell interference
            roles = {s: np.stack([1 - g, nothing, g]) for s, g in zip(fit.seeds, gates, strict=True)}
            curves |= {"seeds": list(fit.seeds), "free": np.round(fit.free_nll.astype(float), 4).T.tolist()}
        wanted = self.contrast
        item = {
            "name": wanted.name, "category": "contrast", "title": wanted.title, "sentence": wanted.sentence,
            "hash": wanted.hash, "pairs": len(wanted.forget), "kept": len(wanted.forget), "applicable": True,
            "curves": curves,
        }  # fmt: skip
        settings = {**without_pushes(asdict(self.settings)), "seeds": self.seeds}
        return causal_result(self.model, {wanted.name: roles}, (item,), settings, device)

    def finish(self, store: Store, device: str) -> Scores:
        """Keep the whole and list the model."""
        scores = self.assembled(store, device)
        store.put(self.key, scores.to_parquet())
        remember(store, self.model)
        return scores

    def _hash(self) -> str:
        content = [CAUSAL_VERSION, "contrast", self.contrast.hash, self.seeds, asdict(self.settings)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
