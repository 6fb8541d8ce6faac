"""Where each family of models keeps the tensors that are read: one row of data per family.

To add a family, add a row here and a tiny model of it to `tests/tiny_models.py`; the tests then compare
what the row reads with the forward pass of transformers.
"""

from dataclasses import dataclass, replace
from typing import Literal

# How the value projection is stored. All but "conv1d" are [out, in] as torch.nn.Linear keeps them.
#   linear       v_proj alone                               [kv_heads * head_dim, width]
#   stacked      query rows, key rows, value rows           [(heads + 2 * kv_heads) * head_dim, width]
#   interleaved  query, key, value of head 0, then head 1…  [heads * 3 * head_dim, width]
#   conv1d       query, key, value columns                  [width, 3 * heads * head_dim]
ValueLayout = Literal["linear", "stacked", "interleaved", "conv1d"]

#   layer         (x - mean) / std * weight + bias
#   rms           x / rms * weight
#   rms_plus_one  x / rms * (1 + weight)
NormKind = Literal["layer", "rms", "rms_plus_one"]


@dataclass(frozen=True)
class Family:
    """Names of tensors (without `.weight`) and how to read them."""

    name: str
    model_types: tuple[str, ...]  # as config.json says
    value: str
    output: str
    norm: str  # the norm whose output feeds the first block's MLP
    up: str
    down: str
    gate: str | None = None  # a gated MLP; when gate == up, one tensor holds gate rows above up rows
    prefixes: tuple[str, ...] = ("model.",)  # of the base model; some checkpoints leave it out
    embedding: str = "embed_tokens"
    layer: str = "layers.{layer}."
    unembedding: str = "lm_head"  # outside the base model
    final_norm: str = "norm"  # before the unembedding
    attention_norm: str | None = None  # behind the attention, before its output is added to the residual stream
    value_layout: ValueLayout = "linear"
    conv1d: bool = False  # output and MLP matrices are stored [in, out]
    norm_kind: NormKind = "rms"
    eps: float = 1e-6  # when config.json does not say
    activation: str = "silu"  # when config.json does not say
    scale_embedding: bool = False  # Gemma multiplies the embedding by sqrt(width)
    defaults: tuple[tuple[str, int], ...] = ()  # numbers that published configs leave to transformers' defaults
    requires: tuple[tuple[str, object], ...] = ()  # config values without which the row does not hold


_LLAMA = Family(
    name="Llama",
    model_types=("llama", "mistral", "qwen2", "qwen3", "smollm3"),
    value="self_attn.v_proj",
    output="self_attn.o_proj",
    norm="post_attention_layernorm",
    gate="mlp.gate_proj",
    up="mlp.up_proj",
    down="mlp.down_proj",
)

_GEMMA = replace(
    _LLAMA,
    name="Gemma",
    model_types=("gemma",),
    norm_kind="rms_plus_one",
    activation="gelu_pytorch_tanh",
    scale_embedding=True,
    defaults=(("num_attention_heads", 16), ("num_key_value_heads", 16), ("head_dim", 256)),
)

_GPT_J = Family(
    name="GPT-J",  # parallel block with one norm
    model_types=("gptj",),
    prefixes=("transformer.", ""),
    embedding="wte",
    final_norm="ln_f",
    layer="h.{layer}.",
    value="attn.v_proj",
    output="attn.out_proj",
    norm="ln_1",
    norm_kind="layer",
    eps=1e-5,
    up="mlp.fc_in",
    down="mlp.fc_out",
    activation="gelu_new",
)

FAMILIES: tuple[Family, ...] = (
    Family(
        name="GPT-2",
        model_types=("gpt2",),
        prefixes=("transformer.", ""),
        embedding="wte",
        final_norm="ln_f",
        layer="h.{layer}.",
        value="attn.c_attn",
        value_layout="conv1d",
        output="attn.c_proj",
        conv1d=True,
        norm="ln_2",
        norm_kind="layer",
        eps=1e-5,
        up="mlp.c_fc",
        down="mlp.c_proj",
        activation="gelu_new",
    ),
    Family(
        name="GPT-NeoX",  # also Pythia
        model_types=("gpt_neox",),
        prefixes=("gpt_neox.", ""),
        embedding="embed_in",
        unembedding="embed_out",
        final_norm="final_layer_norm",
        value="attention.query_key_value",
        value_layout="interleaved",
        output="attention.dense",
        norm="post_attention_layernorm",
        norm_kind="layer",
        eps=1e-5,
        up="mlp.dense_h_to_4h",
        down="mlp.dense_4h_to_h",
        activation="gelu",
    ),
    _LLAMA,
    _GEMMA,
    replace(
        _GEMMA,
        # The norm behind the MLP (post_feedforward_layernorm) is left out, as the residual is: X is the MLP's output.
        name="Gemma 2 and 3",
        model_types=("gemma2", "gemma3_text"),
        prefixes=("model.", "language_model.model.", "model.language_model."),
        norm="pre_feedforward_layernorm",
        attention_norm="post_attention_layernorm",
        defaults=(("num_attention_heads", 8), ("num_key_value_heads", 4), ("head_dim", 256)),
    ),
    Family(
        name="Phi",  # attention and MLP run in parallel and share input_layernorm
        model_types=("phi",),
        value="self_attn.v_proj",
        output="self_attn.dense",
        final_norm="final_layernorm",
        norm="input_layernorm",
        norm_kind="layer",
        eps=1e-5,
        up="mlp.fc1",
        down="mlp.fc2",
        activation="gelu_new",
    ),
    Family(
        name="Phi-3",
        model_types=("phi3",),
        value="self_attn.qkv_proj",
        value_layout="stacked",
        output="self_attn.o_proj",
        norm="post_attention_layernorm",
        eps=1e-5,
        gate="mlp.gate_up_proj",
        up="mlp.gate_up_proj",
        down="mlp.down_proj",
    ),
    Family(
        name="OPT",
        model_types=("opt",),
        prefixes=("model.decoder.", "decoder."),
        value="self_attn.v_proj",
        output="self_attn.out_proj",
        final_norm="final_layer_norm",
        norm="final_layer_norm",
        norm_kind="layer",
        eps=1e-5,
        up="fc1",
        down="fc2",
        activation="relu",
        requires=(("do_layer_norm_before", True),),  # opt-350m norms after the block
    ),
    _GPT_J,
    replace(
        _GPT_J,
        name="GPT-Neo",
        model_types=("gpt_neo",),
        value="attn.attention.v_proj",
        output="attn.attention.out_proj",
        norm="ln_2",
        up="mlp.c_fc",
        down="mlp.c_proj",
    ),
)

BY_MODEL_TYPE = {model_type: family for family in FAMILIES for model_type in family.model_types}
