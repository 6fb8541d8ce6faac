"""Salient tokens as steps: some layers at a time, because each step goes over the whole vocabulary once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.method import digest
from analysis.methods.salience.tokens import NAME, VERSION, layer_bytes, layer_table, read_layer, salience_scores
from analysis.models.card import HeadId, ModelCard
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import Vocabulary
from analysis.progress import Progress
from analysis.results.provenance import JsonObject
from analysis.results.scores import Scores
from analysis.results.store import Store

if TYPE_CHECKING:
    from analysis.methods.salience.compute import Operation

LAYERS_AT_ONCE = 8


@dataclass(frozen=True)
class SalienceStep:
    """The salient tokens of every head of some layers."""

    names: tuple[tuple[int, str], ...]  # each layer and the name under which its tokens are kept
    first_mlp: bool
    words: str = ""
    doing: str = ""  # which layers of how many
    kind: str = "layers"
    work: float = 1  # a layer

    @property
    def key(self) -> str:
        """The name of its first layer, and how many there are."""
        return f"{self.names[0][1]}-{len(self.names)}"

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """All layers of the step in one pass over the vocabulary."""
        from analysis.compute.weights import Weights, memory_of, open_device
        from analysis.methods.salience.compute import salient_operations

        vocabulary = Vocabulary.open(model.checkpoint.folder)
        weights = model.keep(NAME, lambda: Weights(model.checkpoint, open_device(model.device)))
        model.device_name = weights.device_name
        layers = [layer for layer, _ in self.names]
        with memory_of(weights.device):
            operations = salient_operations(weights, layers, first_mlp=self.first_mlp, progress=progress)
        for layer, name in self.names:
            heads = []
            for head in range(weights.card.heads):
                heads.append([_plain(operation, vocabulary) for operation in operations[HeadId(layer, head)]])
            yield name, layer_bytes(layer_table(heads))


def _plain(operation: "Operation", vocabulary: Vocabulary) -> JsonObject:
    """One salient token with its texts, as it is kept."""
    return {
        "token": operation.token,
        "text": vocabulary.text(operation.token),
        "sigma": operation.sigma,
        "promoted": _named(operation.promoted, vocabulary),
        "suppressed": _named(operation.suppressed, vocabulary),
    }


def _named(entries: Sequence[tuple[int, float]], vocabulary: Vocabulary) -> list[JsonObject]:
    return [{"token": token, "text": vocabulary.text(token), "value": value} for token, value in entries]


@dataclass(frozen=True)
class SaliencePlan:
    """The salient tokens of some layers of a model."""

    card: ModelCard
    first_mlp: bool
    layers: tuple[int, ...]

    @property
    def key(self) -> str:
        """The name of the finished result."""
        content = [self.card.fingerprint, NAME, VERSION, self.first_mlp, list(self.layers)]
        return f"result/{self.card.fingerprint}/{NAME}/{digest(content)}"

    def layer_name(self, layer: int) -> str:
        """The name of one layer's salient tokens."""
        return f"{NAME}/{self.card.fingerprint}/{VERSION}/{layer}/{int(self.first_mlp)}"

    @property
    def is_whole(self) -> bool:
        """With all layers: some layers alone, for one head, are found again piece by piece."""
        return self.layers == self.card.layers

    @property
    def total(self) -> int:
        """Layers."""
        return len(self.layers)

    def left(self, store: Store) -> int:
        """Layers that are not in the store."""
        return len(self._absent(store))

    def ready(self, store: Store, at_once: int = 1) -> Sequence[SalienceStep]:
        """The layers that are not in the store, a few per step."""
        absent = self._absent(store)
        size = max(at_once, LAYERS_AT_ONCE)
        steps = []
        for start in range(0, len(absent), size):
            names = tuple((layer, self.layer_name(layer)) for layer in absent[start : start + size])
            first, last = self.layers.index(names[0][0]) + 1, self.layers.index(names[-1][0]) + 1
            doing = f"layers {first} to {last} of {len(self.layers)}"
            steps.append(SalienceStep(names, self.first_mlp, doing=doing))
        return steps

    def keep(self, step: Any, name: str, content: bytes, store: Store) -> None:
        """Layers stand under their own names."""
        store.put(name, content)

    def assembled(self, store: Store, device: str) -> Scores | None:
        """The layers that are in the store so far; nothing when there is none."""
        layers = {}
        for layer in self.layers:
            content = store.get(self.layer_name(layer))
            if content is not None:
                layers[layer] = read_layer(content)
        return salience_scores(self.card, layers, self.first_mlp, device) if layers else None

    def remarks(self, store: Store) -> tuple[str, ...]:
        """There are no remarks."""
        return ()

    def pending(self, store: Store) -> dict[str, float]:
        """Layers."""
        return {"layers": float(self.left(store))}

    def _absent(self, store: Store) -> list[int]:
        return [layer for layer in self.layers if not store.contains(self.layer_name(layer))]
