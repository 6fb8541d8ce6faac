"""Tiny randomly initialised models of every family, made on the spot with transformers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor, nn

WORDS = 300
SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}


@dataclass(frozen=True)
class Tiny:
    """How to make a family's model, and where transformers keeps the parts that our rows must agree with."""

    config: str
    sizes: dict[str, Any]
    output: str  # the output projection inside a block
    attention: str
    norm: str
    mlp: str | Callable[[nn.Module, Tensor], Tensor] = "mlp"
    extra: dict[str, Any] = field(default_factory=dict)

    def make(self, seed: int = 0) -> Any:
        torch.manual_seed(seed)
        config = getattr(transformers, self.config)(vocab_size=WORDS, **self.sizes, **self.extra)
        config._attn_implementation = "eager"
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
        for parameter in model.parameters():  # norms and biases too, so that none can be overlooked
            nn.init.normal_(parameter, std=0.3)
        return model


def _opt_mlp(block: nn.Module, x: Tensor) -> Tensor:
    return block.fc2(block.activation_fn(block.fc1(x)))


LLAMA = {"output": "self_attn.o_proj", "attention": "self_attn", "norm": "post_attention_layernorm"}
GEMMA = {**LLAMA, "norm": "pre_feedforward_layernorm", "extra": {"head_dim": 16}}
GROUPED = {**SIZES, "num_key_value_heads": 2}
GPT = {"n_embd": 32, "n_layer": 3, "n_head": 4}

FAMILIES = {
    "gpt2": Tiny("GPT2Config", GPT, "attn.c_proj", "attn", "ln_2"),
    "gpt_neox": Tiny("GPTNeoXConfig", SIZES, "attention.dense", "attention", "post_attention_layernorm"),
    "llama": Tiny("LlamaConfig", GROUPED, **LLAMA),
    "llama-tied": Tiny("LlamaConfig", GROUPED, **LLAMA, extra={"tie_word_embeddings": True}),
    "llama-biased": Tiny("LlamaConfig", GROUPED, **LLAMA, extra={"attention_bias": True, "mlp_bias": True}),
    "mistral": Tiny("MistralConfig", GROUPED, **LLAMA),
    "qwen2": Tiny("Qwen2Config", GROUPED, **LLAMA),
    "qwen3": Tiny("Qwen3Config", GROUPED, **LLAMA, extra={"head_dim": 16}),
    "smollm3": Tiny("SmolLM3Config", GROUPED, **LLAMA, extra={"pad_token_id": 0}),
    "gemma": Tiny("GemmaConfig", GROUPED, **LLAMA, extra={"head_dim": 16}),
    "gemma2": Tiny("Gemma2Config", GROUPED, **GEMMA),
    "gemma3": Tiny("Gemma3TextConfig", GROUPED, **GEMMA),
    "phi": Tiny("PhiConfig", SIZES, "self_attn.dense", "self_attn", "input_layernorm"),
    "phi3": Tiny("Phi3Config", GROUPED, **LLAMA, extra={"pad_token_id": 0}),
    "opt": Tiny(
        "OPTConfig", {**{k: v for k, v in SIZES.items() if k != "intermediate_size"}, "ffn_dim": 48},
        "self_attn.out_proj", "self_attn", "final_layer_norm", _opt_mlp,
        {"word_embed_proj_dim": 32, "max_position_embeddings": 64},
    ),
    "gptj": Tiny("GPTJConfig", {**GPT, "rotary_dim": 4}, "attn.out_proj", "attn", "ln_1"),
    "gpt_neo": Tiny(
        "GPTNeoConfig",
        {"hidden_size": 32, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]},
        "attn.attention.out_proj", "attn.attention", "ln_2",
    ),
}  # fmt: skip


def save_tokenizer(folder: Path, words: int = WORDS) -> None:
    """One token a word: w0, w1, w2 …"""
    names = {f"w{i}": i for i in range(words - 1)} | {"[UNK]": words - 1}
    tokenizer = Tokenizer(models.WordLevel(names, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))


def save(model: Any, folder: Path, dtype: torch.dtype = torch.float32, **options: Any) -> Path:
    """A checkpoint folder as transformers writes it, with a tokenizer."""
    model.to(dtype).save_pretrained(folder, **options)
    model.float()
    save_tokenizer(folder)
    return folder
