"""Contrastive gates: the heads that one behaviour needs and another does not. Nothing here loads torch.

Matched pairs (forget, retain); one fit minimises clip(log P(forget) − log P(retain), 5) − λ · mean clamp(logit). The
clip is on one side, at −5: a pair told apart well enough counts no more, one the wrong way round always does. A gate
that closes belongs to a head that makes the forgotten likely and that the kept can do without: it counts as
facilitating what is to be forgotten, F = 1 − G.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from analysis.data.tasks import Contrast
from analysis.methods.causal.fits import Fit
from analysis.methods.causal.plan import CHUNK, GateStep, fit_so_far, pieces
from analysis.methods.causal.result import CONTRAST, NAME, VERSION, Curves, TaskRecord, TaskResult, causal_scores
from analysis.methods.causal.settings import GateSettings
from analysis.models.card import ModelCard
from analysis.results.provenance import JsonObject, ScoredItem
from analysis.results.scores import Floats, Scores
from analysis.results.store import Store


def without_pushes(settings: JsonObject) -> JsonObject:
    """The settings of a fit without those of a second stage, which contrasts do not have."""
    return {name: value for name, value in settings.items() if name not in {"push_updates", "push_rate"}}


@dataclass(frozen=True)
class ContrastPlan:
    """The contrastive gates of a model; all seeds share their batches."""

    card: ModelCard
    contrast: Contrast
    seeds: int = 1
    settings: GateSettings = field(default_factory=GateSettings)

    @property
    def key(self) -> str:
        """The name of the finished result."""
        return f"result/{self.card.fingerprint}/{NAME}/{self._hash()}"

    @property
    def fit_name(self) -> str:
        """The name of the fit, under way or done."""
        return f"unit/{self.card.fingerprint}/{NAME}/{self._hash()}"

    @property
    def is_whole(self) -> bool:
        """Always."""
        return True

    @property
    def total(self) -> int:
        """Steps of the fit."""
        return pieces(self.settings.free_updates, CHUNK)

    def left(self, store: Store) -> int:
        """Steps that are still to be done."""
        fit = self._fit(store)
        return self.total - (pieces(fit.update, CHUNK) if fit else 0)

    def ready(self, store: Store, at_once: int = 1) -> Sequence[GateStep]:
        """The next piece of the fit, or nothing when it is done."""
        content = store.get(self.fit_name)
        fit = fit_so_far(content)
        if content is None or fit is None:
            content = b""  # it starts again
        if fit is not None and fit.update >= self.settings.free_updates:
            return []
        seeds = tuple(range(self.seeds))
        counted = f", update {fit.update if fit else 0} of {self.settings.free_updates}"
        step = GateStep(
            "contrast", self.fit_name, self.contrast, self.settings, seeds, content=content, counted=counted
        )
        return [step]

    def keep(self, step: GateStep, name: str, content: bytes, store: Store) -> None:
        """Store the fit so far."""
        store.put(name, content)

    def assembled(self, store: Store, device: str) -> Scores:
        """The gates so far as scores."""
        fit = self._fit(store)
        roles: dict[int, Floats] = {}
        curves = Curves()
        if fit is not None:
            gates = 1 / (1 + np.exp(-fit.logits.astype(np.float64)))
            unmeasured = np.full_like(gates[0], np.nan)  # one fit cannot tell interference
            for seed, gate in zip(fit.seeds, gates, strict=True):
                roles[seed] = np.stack([1 - gate, unmeasured, gate])
            losses = np.round(fit.free_nll.astype(float), 4).T.tolist()
            curves = Curves(seeds=fit.seeds, free=tuple(tuple(row) for row in losses))
        contrast = self.contrast
        item = ScoredItem(
            name=contrast.name,
            title=contrast.title,
            category=CONTRAST.name,
            sentence=contrast.sentence,
            hash=contrast.hash,
            pairs=len(contrast.forget),
            kept=len(contrast.forget),
        )
        settings = {**without_pushes(asdict(self.settings)), "seeds": self.seeds}
        return causal_scores(self.card, [TaskResult(item, roles, TaskRecord(curves=curves))], settings, device)

    def remarks(self, store: Store) -> tuple[str, ...]:
        """There are no remarks."""
        return ()

    def _fit(self, store: Store) -> Fit | None:
        return fit_so_far(store.get(self.fit_name))

    def _hash(self) -> str:
        """Not `digest`, which sorts keys: stored fits of the first version are found under this one."""
        content = [VERSION, "contrast", self.contrast.hash, self.seeds, asdict(self.settings)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
