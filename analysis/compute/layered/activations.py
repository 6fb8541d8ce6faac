"""What is seen of a running model at the last token of every source, layer by layer."""

import os
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from analysis.compute.head_hooks import LayerWatch
from analysis.compute.layered.model import LayeredModel
from analysis.compute.layered.packing import PackedSources
from analysis.compute.layered.prefix import PrefixCache
from analysis.compute.weights import Weights
from analysis.errors import StoreError
from analysis.progress import Progress

_AT_ONCE = 72  # sequences that go through the layers together: more takes more memory, fewer reads the weights often


class Activations:
    """One matrix [S, width] per layer, in a file: those of a large model would not fit in memory."""

    def __init__(self, layers: Sequence[int], sources: int, width: int) -> None:
        self._layers = list(layers)
        self._shape = (sources, width)
        self._file = tempfile.TemporaryFile(prefix="head-atlas-")  # noqa: SIM115 – closed by the next line
        weakref.finalize(self, self._file.close)

    def write(self, layer: int, rows: Tensor, values: Tensor) -> None:  # [n], [n, width]
        """Keep some rows, which follow each other."""
        content = values.float().cpu().contiguous().numpy().tobytes()
        try:
            written = os.pwrite(self._file.fileno(), content, self._offset(layer, int(rows[0])))
            if written < len(content):
                raise OSError("no space left")
        except OSError as error:
            raise StoreError(
                f"the running model's activations cannot be stored: {error}", "Free some space, or set TMPDIR."
            ) from error

    def read(self, layer: int) -> Tensor:  # [S, width]
        """The matrix of a layer."""
        sources, width = self._shape
        content = os.pread(self._file.fileno(), 4 * sources * width, self._offset(layer, 0))
        return torch.from_numpy(np.frombuffer(bytearray(content), np.float32).reshape(self._shape))

    def _offset(self, layer: int, row: int) -> int:
        sources, width = self._shape
        return 4 * width * (self._layers.index(layer) * sources + row)


def run(
    weights: Weights, prompts: PackedSources, watch: LayerWatch, width: int, layers: Sequence[int], progress: Progress
) -> Activations:
    """Run the prompts up to the last of some layers, one layer's weights in memory at a time.

    `watch` says where to look, `width` how many numbers are to be seen there of each token.
    """
    model = LayeredModel(weights, prompts.ids.unique())
    prefix = PrefixCache(prompts.prefix)
    activations = Activations(layers, len(prompts.row), width)
    parts = prompts.split(_AT_ONCE)
    total = len(parts) * (max(layers) + 1)
    for number, (part, sources) in enumerate(parts):
        seen = _Keeping(activations, part, sources, layers, progress, number * (max(layers) + 1), total)
        model.run(part, watch, seen, last=max(layers), prefix=prefix)
    return activations


@dataclass(frozen=True)
class _Keeping:
    """Keeps what is seen of some prompts, and reports progress."""

    activations: Activations
    prompts: PackedSources
    sources: Tensor  # [n] which of the sources they hold
    layers: Sequence[int]  # those that are needed
    progress: Progress
    before: int  # steps that were done before
    total: int

    def __call__(self, layer: int, values: Tensor) -> None:  # [B, T, width]
        """Keep the sources' rows of a layer that is needed."""
        if layer in self.layers:
            self.activations.write(layer, self.sources, values[self.prompts.row, self.prompts.column])
        self.progress("running the model", self.before + layer + 1, self.total)
