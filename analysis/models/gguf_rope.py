"""The rope scaling of a GGUF file (how it stretches positions) as transformers writes it; its loader leaves it out."""

import math

import numpy as np
from numpy.typing import NDArray

from analysis.models.checkpoint import Config
from analysis.models.gguf_file import GgufFile, GgufTensor

# Llama 3.1 and later: the same numbers in all published models but for the factor, which is found in the table.
_LLAMA_3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}


_LONG, _SHORT = "rope_factors_long.weight", "rope_factors_short.weight"

# The architectures whose models of transformers know a kind of scaling, and whose files llama.cpp reads with it.
_LONGROPE = ("llama", "phi3")
_YARN = ("llama", "qwen2", "qwen3")
_VISION_GEMMA_3 = 8.0  # of the published models that read images, whose positions Ollama's files do not describe
_UNUSUAL = {"yarn_ext_factor": 1.0, "yarn_attn_factor": 1.0, "yarn_log_multiplier": 0.0}  # read only if they are this


def scaling(file: GgufFile) -> Config | None:
    """What `rope_parameters` must say; empty if nothing is stretched, None if it is in a way that is not known."""
    tables = {tensor.name: tensor for tensor in file.tensors if tensor.name.startswith("rope_")}
    if not tables:
        return _of_factor(file)
    if _positive(file, "rope.scaling.factor", 1.0) != 1 or any(table.kind.name != "F32" for table in tables.values()):
        return None
    if set(tables) == {"rope_freqs.weight"}:
        return _of_table(file, _read(tables["rope_freqs.weight"]))
    if set(tables) == {_LONG, _SHORT} and file.architecture in _LONGROPE:
        return _longrope(file, _read(tables[_LONG]), _read(tables[_SHORT]))
    return None


def partial(file: GgufFile) -> Config:
    """The share of a head's dimensions that are rotated, of Phi-3, where it may be less than all."""
    rotated, heads = file.about("rope.dimension_count"), file.about("attention.head_count")
    if file.architecture != "phi3" or not rotated:
        return {}
    head_dim = file.about("attention.key_length") or file.about("embedding_length") // heads
    return {"partial_rotary_factor": rotated / head_dim} if rotated < head_dim else {}


def _of_factor(file: GgufFile) -> Config | None:
    """Scaling that numbers alone describe: every wave by one factor, or long ones only (YaRN)."""
    unsaid = _VISION_GEMMA_3 if file.architecture == "gemma3" and file.about("vision.block_count") else 1.0
    factor = _positive(file, "rope.scaling.factor", unsaid)
    kind = file.about("rope.scaling.type", "linear")
    if factor == 1 or kind == "none":
        return {}
    if kind == "linear":
        return {"rope_type": "linear", "factor": factor}
    if kind == "yarn" and file.architecture in _YARN:
        return _yarn(file, factor)
    return None


def _yarn(file: GgufFile, factor: float) -> Config | None:
    """Peng et al., "YaRN", 2023, arXiv 2309.00071; attention grows by 0.1 ln(factor) + 1, times what the file says."""
    for key, usual in _UNUSUAL.items():
        if file.about(f"rope.scaling.{key}", usual) != usual:
            return None
    grown = (0.1 * math.log(factor) + 1) if factor > 1 else 1.0
    return {
        "rope_type": "yarn",
        "factor": factor,
        "original_max_position_embeddings": _original_length(file),
        "attention_factor": grown * _positive(file, "rope.scaling.attn_factor", 1.0),
        "beta_fast": _positive(file, "rope.scaling.yarn_beta_fast", 32.0),
        "beta_slow": _positive(file, "rope.scaling.yarn_beta_slow", 1.0),
    }


def _longrope(file: GgufFile, long: NDArray[np.float32], short: NDArray[np.float32]) -> Config | None:
    """A factor for every pair of rotated dimensions, in texts beyond the original length and in shorter ones."""
    pairs = int(_positive(file, "rope.dimension_count", 0.0)) // 2
    if len(long) != pairs or len(short) != pairs:
        return None
    return {
        "rope_type": "longrope",
        "long_factor": long.tolist(),
        "short_factor": short.tolist(),
        "original_max_position_embeddings": _original_length(file),
        "attention_factor": _positive(file, "rope.scaling.attn_factor", 1.0),
    }


def _original_length(file: GgufFile) -> int:
    """The longest text before positions were stretched; as in llama.cpp the present one if the file does not say."""
    return int(_positive(file, "rope.scaling.original_context_length", _positive(file, "context_length", 2048.0)))


def _read(table: GgufTensor) -> NDArray[np.float32]:
    return np.fromfile(table.file, "<f4", math.prod(table.shape), offset=table.start)


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
