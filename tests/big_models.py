"""Checkpoints of the shape of big models, made on the spot: random where they will be read, holes elsewhere."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import torch

from tests.tiny_models import save_tokenizer

Shapes = dict[str, tuple[int, ...]]

LLAMA_3B = {
    "model_type": "llama", "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 28,
    "num_attention_heads": 24, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128_256,
    "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": True, "architectures": ["LlamaForCausalLM"],
}  # fmt: skip
LLAMA_70B = LLAMA_3B | {
    "hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
    "tie_word_embeddings": False,
}  # fmt: skip


def layer_shapes(config: dict, layer: int) -> Shapes:
    d, inner, dim = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    heads, kv_heads = config["num_attention_heads"] * dim, config["num_key_value_heads"] * dim
    shapes = {
        "self_attn.q_proj": (heads, d), "self_attn.k_proj": (kv_heads, d), "self_attn.v_proj": (kv_heads, d),
        "self_attn.o_proj": (d, heads), "mlp.gate_proj": (inner, d), "mlp.up_proj": (inner, d),
        "mlp.down_proj": (d, inner), "input_layernorm": (d,), "post_attention_layernorm": (d,),
    }  # fmt: skip
    return {f"model.layers.{layer}.{name}.weight": shape for name, shape in shapes.items()}


def write_shard(path: Path, shapes: Shapes, filled: Callable[[str], bool]) -> None:
    """A safetensors file in bfloat16; tensors that are not filled are holes and take no space on disk."""
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 2 * torch.Size(shape).numel()
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    generator = torch.Generator().manual_seed(len(text) + at)
    with path.open("wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text)
        base = stream.tell()
        stream.truncate(base + at)
        for name, entry in header.items():
            if filled(name):
                stream.seek(base + entry["data_offsets"][0])
                rows = max(1, entry["shape"][0] // 16)
                for start in range(0, entry["shape"][0], rows):
                    count = min(rows, entry["shape"][0] - start)
                    part = torch.randn(count, *entry["shape"][1:], generator=generator).mul_(0.02).bfloat16()
                    stream.write(part.view(torch.int16).numpy().tobytes())


def write(folder: Path, config: dict, filled: Callable[[str], bool]) -> Path:
    """A sharded checkpoint: embeddings in the first shard, then four layers a shard."""
    folder.mkdir()
    d, vocabulary = config["hidden_size"], config["vocab_size"]
    first: Shapes = {"model.embed_tokens.weight": (vocabulary, d), "model.norm.weight": (d,)}
    if not config["tie_word_embeddings"]:
        first["lm_head.weight"] = (vocabulary, d)
    groups = [first]
    for start in range(0, config["num_hidden_layers"], 4):
        layers = range(start, min(start + 4, config["num_hidden_layers"]))
        groups.append({name: shape for layer in layers for name, shape in layer_shapes(config, layer).items()})
    index = {}
    for number, shapes in enumerate(groups, start=1):
        name = f"model-{number:05}-of-{len(groups):05}.safetensors"
        write_shard(folder / name, shapes, filled)
        index |= dict.fromkeys(shapes, name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    (folder / "config.json").write_text(json.dumps(config))
    save_tokenizer(folder, vocabulary)
    return folder
