"""The rope scaling of a GGUF file (how it stretches positions) as transformers writes it; its loader leaves it out."""

import math

import numpy as np
from numpy.typing import NDArray

from analysis.models.checkpoint import Config
from analysis.models.gguf_file import GgufFile

# Llama 3.1 and later: the same numbers in all published models but for the factor, which is found in the table.
_LLAMA_3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}


def scaling(file: GgufFile) -> Config | None:
    """What `rope_parameters` must say; empty if nothing is stretched, None if it is in a way that is not known."""
    tables = [tensor for tensor in file.tensors if tensor.name.startswith("rope_")]
    factor = _positive(file, "rope.scaling.factor", 1.0)
    kind = file.about("rope.scaling.type", "linear")
    if not tables:
        if factor == 1 or kind == "none":
            return {}
        return {"rope_type": "linear", "factor": factor} if kind == "linear" else None
    table = tables[0]
    if len(tables) > 1 or table.name != "rope_freqs.weight" or table.kind.name != "F32" or factor != 1:
        return None
    return _of_table(file, np.fromfile(table.file, "<f4", math.prod(table.shape), offset=table.start))


def _of_table(file: GgufFile, table: NDArray[np.float32]) -> Config | None:
    """Llama 3's scaling if it gives this table, which has a factor for every pair of rotated dimensions."""
    factor = float(table.max(initial=1.0))
    if factor == 1:
        return {}
    base = _positive(file, "rope.freq_base", 10_000.0)
    if len(table) * 2 != file.about("rope.dimension_count") or not np.allclose(
        table, _llama_3(base, factor, len(table))
    ):
        return None
    return {"rope_type": "llama3", "factor": factor, **_LLAMA_3}


def _positive(file: GgufFile, key: str, default: float) -> float:
    """A number of the metadata; 0 and impossible values stand for nothing said."""
    value = file.about(key, default)
    if isinstance(value, int | float) and 0 < value < math.inf:
        return float(value)
    return default


def _llama_3(base: float, factor: float, pairs: int) -> NDArray[np.float64]:
    """Short waves stay as they are, long ones are stretched by the factor, those between by a mean of both."""
    waves = 2 * math.pi * base ** (np.arange(pairs) / pairs)
    low, high = _LLAMA_3["low_freq_factor"], _LLAMA_3["high_freq_factor"]
    kept = (_LLAMA_3["original_max_position_embeddings"] / waves - low) / (high - low)
    kept = np.clip(kept, 0, 1)
    return np.asarray(1 / ((1 - kept) / factor + kept))
