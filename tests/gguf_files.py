"""Tiny GGUF files, written on the spot from tiny models as llama.cpp's converter writes them."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from torch import Tensor
from transformers.convert_slow_tokenizer import bytes_to_unicode

from tests.tiny_models import FAMILIES, GROUPED, LLAMA, WORDS, Tiny

ROWS = {**GROUPED, "intermediate_size": 64}  # rows of quantised tensors are blocks of 32
MODELS = {
    "gemma2": Tiny("Gemma2Config", ROWS, **LLAMA, extra={"head_dim": 16}),
    "gemma3": Tiny("Gemma3TextConfig", ROWS, **LLAMA, extra={"head_dim": 16}),
    "gpt2": FAMILIES["gpt2"],
    "llama": Tiny("LlamaConfig", ROWS, **LLAMA, extra={"tie_word_embeddings": True}),
    "phi3": Tiny("Phi3Config", ROWS, **LLAMA, extra={"pad_token_id": 0}),
    "qwen2": Tiny("Qwen2Config", ROWS, **LLAMA),
    "qwen3": Tiny("Qwen3Config", ROWS, **LLAMA, extra={"head_dim": 128}),
}
CONV1D = ("attn.c_attn.weight", "c_proj.weight", "c_fc.weight")
Q8_0, F16, F32 = gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.F16, gguf.GGMLQuantizationType.F32


def write(
    path: Path,
    name: str,
    model: Any,
    kind: gguf.GGMLQuantizationType = F32,
    bos: bool | None = None,
    tokenizer: bool = True,
    parts: int = 1,
    more: dict[str, np.ndarray] | None = None,
    title: str = "",
    **metadata: int | float | str,
) -> Path:
    """A model as a GGUF file, or as the first of several parts; matrices are stored as `kind`."""
    tensors = dict(_tensors(name, model)) | (more or {})
    most = -(-len(tensors) // parts) if parts > 1 else 0
    writer = gguf.GGUFWriter(path, name, split_max_tensors=most)
    if title:
        writer.add_name(title)
    _write_config(writer, model.config)
    writer.add_file_type({Q8_0: 7, F16: 1, F32: 0}[kind])
    for key, value in metadata.items():
        add = {int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}[type(value)]
        add(f"{name}.{key}", value)
    if tokenizer:
        _write_tokenizer(writer, name, bos)
    for tensor, weights in tensors.items():
        stored = kind if weights.ndim == 2 else F32
        writer.add_tensor(tensor, gguf.quantize(weights, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.with_name(f"{path.stem}-00001-of-{parts:05}.gguf") if parts > 1 else path


def _tensors(name: str, model: Any) -> Any:
    (architecture,) = (key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == name)
    names = gguf.get_tensor_name_map(architecture, model.config.num_hidden_layers)
    tied = model.config.tie_word_embeddings
    for key, weights in model.state_dict().items():
        if key == "lm_head.weight" and tied:
            continue
        yield names.get_name(key, (".weight", ".bias")), _as_stored(name, model.config, key, weights).numpy()


def _as_stored(name: str, config: Any, key: str, weights: Tensor) -> Tensor:
    """What llama.cpp's converter changes: the order of Llama's rows, Gemma's norms, GPT-2's matrices."""
    if name == "llama" and key.endswith(("q_proj.weight", "k_proj.weight")):
        heads = config.num_attention_heads if "q_proj" in key else config.num_key_value_heads
        return weights.view(heads, 2, -1, weights.shape[1]).transpose(1, 2).reshape(weights.shape).contiguous()
    if name.startswith("gemma") and key.endswith("norm.weight"):
        return weights + 1
    if name == "gpt2" and key.endswith(CONV1D):
        return weights.T.contiguous()
    return weights


def _write_config(writer: gguf.GGUFWriter, config: Any) -> None:
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    if config.model_type == "gpt2":
        writer.add_feed_forward_length(4 * config.hidden_size)
        writer.add_layer_norm_eps(config.layer_norm_epsilon)
        return
    dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rope = config.rope_parameters
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_key_length(dim)
    writer.add_value_length(dim)
    writer.add_rope_dimension_count(int(dim * rope.get("partial_rotary_factor", 1)))
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    if config.model_type.startswith("gemma"):
        writer.add_sliding_window(config.sliding_window)


def _write_tokenizer(writer: gguf.GGUFWriter, name: str, bos: bool | None) -> None:
    """A vocabulary in which hi is a word; sentencepiece for Llama, Gemma and Phi, else bytes."""
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    if name in ("llama", "phi3", "gemma2", "gemma3"):
        tokens = ["<unk>", "<s>", "</s>", "▁", "h", "i", "▁h", "▁hi", "hi"]
        writer.add_tokenizer_model("llama")
        writer.add_unk_token_id(0)
    else:
        tokens = ["<|unused|>", "<s>", "</s>", *bytes_to_unicode().values(), "Ġh", "Ġhi", "hi"]
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("qwen2" if name.startswith("qwen") else "gpt-2")
        writer.add_token_merges(["Ġ h", "Ġh i", "h i"])
    tokens += [f"x{number}" for number in range(WORDS - len(tokens))]
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(number) for number in range(WORDS)])
    writer.add_token_types([control] * 3 + [normal] * (WORDS - 3))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(0)
    if bos is not None:
        writer.add_add_bos_token(bos)


def logits(model: Any, length: int = 20) -> np.ndarray:
    """What a model predicts after some tokens."""
    with torch.no_grad():
        return model(torch.arange(3, 3 + length)[None]).logits.numpy()
