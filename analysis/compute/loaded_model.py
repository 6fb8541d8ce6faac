"""A model as transformers runs it, and where its layers and their output projections are."""

from typing import Any, cast

import torch
from torch import nn

from analysis.errors import UnknownFamily
from analysis.models.checkpoint import Checkpoint


def load_model(checkpoint: Checkpoint, device: torch.device) -> Any:
    """The model as transformers builds it, frozen; from its safetensors only, and never with code of its own."""
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    checkpoint.check_runnable()
    logging.disable_progress_bar()
    dtype = torch.float32 if device.type == "cpu" else "auto"
    try:
        model = AutoModelForCausalLM.from_pretrained(
            checkpoint.folder, dtype=dtype, use_safetensors=True, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # transformers raises whatever a strange number in config.json leads to
        raise UnknownFamily(
            f"transformers cannot run {checkpoint.card.id}: {str(error)[:200]}", "The weights-only map may still work."
        ) from error
    return cast(Any, model.to(device).eval().requires_grad_(False))


def attention_outputs(model: nn.Module, checkpoint: Checkpoint) -> list[nn.Module]:
    """The output projection of each layer that has attention."""
    return [block.get_submodule(checkpoint.family.output) for block in attention_layers(model, checkpoint)]


def attentions(model: nn.Module, checkpoint: Checkpoint) -> list[nn.Module]:
    """What computes attention in each layer, the output projection included."""
    name = checkpoint.family.output.rpartition(".")[0]
    return [block.get_submodule(name) for block in attention_layers(model, checkpoint)]


def attention_layers(model: nn.Module, checkpoint: Checkpoint) -> list[nn.Module]:
    """The layers, which all have attention."""
    prefix = module_prefix(model, checkpoint)
    names = [checkpoint.family.layer.format(layer=layer).rstrip(".") for layer in checkpoint.card.layers]
    return [model.get_submodule(f"{prefix}{name}") for name in names]


def module_prefix(model: nn.Module, checkpoint: Checkpoint) -> str:
    """What stands before the family's names of modules in a model of transformers."""
    family = checkpoint.family
    modules = dict(model.named_modules())
    first = f"{family.layer.format(layer=checkpoint.card.layers[0])}{family.output}"
    for prefix in (*family.prefixes, "model.language_model."):
        if f"{prefix}{first}" in modules:
            return prefix
    raise UnknownFamily(
        f"the layers of {checkpoint.card.id} are not where transformers usually has them",
        "The weights-only map may still work.",
    )
