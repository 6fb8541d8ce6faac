"""What a worker does: small pieces of a job, each a pure function of its arguments. Runs in the worker's process."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.data.relations import Relation
from analysis.errors import ModelError
from analysis.methods.causal.plan import Step
from analysis.models.checkpoint import Checkpoint
from analysis.models.sources import open_listed
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary
from analysis.results.store import cache_folder

Kept = list[list[tuple[int, int]]]  # each relation's usable token pairs


@dataclass(frozen=True)
class Source:
    """How a worker finds a model: by name, in its own cache and models directory."""

    model: str
    revision: str
    models: str  # the models directory, or empty
    device: str

    def open(self) -> Checkpoint:
        """The checkpoint on this worker's host."""
        models = Path(self.models) if self.models else None
        return open_listed(self.model, self.revision or None, cache_folder(), models)


MODEST = "HEAD_ATLAS_MODEST"  # set for workers beside the web server

_open: dict[str, Any] = {}  # the last model and query, kept open between units


def _be_modest() -> None:
    """On the web server's own machine the page comes first: work with what it leaves."""
    if os.environ.pop(MODEST, ""):
        os.nice(10)


def prepare(source: Source, relations: Sequence[Relation]) -> tuple[dict[str, Any], Kept]:
    """Open a model: its card, and the pairs of each relation that are single tokens of it."""
    _be_modest()
    checkpoint = source.open()
    vocabulary = Vocabulary.open(checkpoint.folder)
    kept = [list(vocabulary.keep(relation, checkpoint.card.vocabulary)) for relation in relations]
    return checkpoint.card.to_dict(), kept


def count_layer(
    source: Source, fingerprint: str, kept: Kept, ks: Sequence[int], first_mlp: bool, layer: int
) -> tuple[bytes, str, str]:
    """One layer's hits of every usable relation, the device that counted them, and the worker's address."""
    from distributed import get_worker

    from analysis.compute.weights import Weights, memory_of, open_device
    from analysis.methods.function.compute import HitCounter, Query

    _be_modest()
    key = json.dumps([source.model, source.revision, fingerprint, first_mlp, source.device, hash(str(kept)), list(ks)])
    if _open.get("key") != key:
        _open.clear()
        weights = Weights(_checked(source, fingerprint), open_device(source.device))
        pairs = [(p, k) for p, k in zip(kept, ks, strict=True) if len(p) >= MIN_PAIRS]
        with memory_of(weights.device):
            counter = HitCounter(weights, Query.of(pairs), first_mlp)
        _open.update(key=key, counter=counter, weights=weights)
    weights = _open["weights"]
    with memory_of(weights.device):
        ((_, hits),) = _open["counter"].count([layer])
    return hits.cpu().numpy().astype("<i4").tobytes(), weights.device_name, get_worker().address


def causal_step(source: Source, fingerprint: str, step: Step) -> tuple[bytes, str, str]:
    """One step of a causal map, the device that did it, and the worker's address; the model stays open."""
    from distributed import get_worker

    from analysis.methods.causal.compute.steps import CausalWorker

    _be_modest()
    key = json.dumps(["causal", source.model, source.revision, fingerprint, source.device])
    if _open.get("key") != key:
        _open.clear()
        _open.update(key=key, causal=CausalWorker(_checked(source, fingerprint), source.device))
    worker = _open["causal"]
    return worker.do(step), worker.model.device_name, get_worker().address


def salient_layers(source: Source, fingerprint: str, layers: Sequence[int]) -> dict[int, bytes]:
    """Some layers' salient tokens, as they are kept in the store."""
    from analysis.methods.function.plan import salience_of
    from analysis.progress import silent

    _be_modest()
    found = salience_of(_checked(source, fingerprint), layers, source.device, True, silent)
    return {layer: json.dumps(content).encode() for layer, content in found.items()}


def _checked(source: Source, fingerprint: str) -> Checkpoint:
    """The model, if this host has the same weights as the others."""
    checkpoint = source.open()
    if checkpoint.card.fingerprint != fingerprint:
        raise ModelError(f"{source.model} differs between hosts", "Give all workers the same files or revision.")
    return checkpoint
