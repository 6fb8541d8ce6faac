"""What each family's row reads must reproduce what transformers computes with the same checkpoint."""

import pytest
import torch
import transformers

from analysis.compute.weights import Weights
from analysis.models.checkpoint import Checkpoint
from analysis.models.families import BY_MODEL_TYPE
from tests import tiny_models

IDS = torch.tensor([[5, 17, 250, 3, 17, 99]])


def part(module, path):
    for name in path.split("."):
        module = getattr(module, name)
    return module


def blocks(model):
    base = model.base_model
    base = getattr(base, "decoder", base)
    return base.h if hasattr(base, "h") else base.layers


def without_attention_biases(model, tiny):
    """Our maps leave value and output biases out; without them transformers' numbers must be ours exactly."""
    for block in blocks(model):
        for name, parameter in part(block, tiny.attention).named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
    return model


@pytest.fixture(params=tiny_models.FAMILIES, scope="module")
def case(request, tmp_path_factory):
    tiny = tiny_models.FAMILIES[request.param]
    model = without_attention_biases(tiny.make(), tiny)
    folder = tiny_models.save(model, tmp_path_factory.mktemp(request.param))
    return tiny, model, Weights(Checkpoint.open(folder))


def record(model, tiny):
    """One forward pass: each layer's attention input, pattern, per-head outputs and projected output."""
    seen = {"x": [], "z": [], "out": []}
    handles = []
    for block in blocks(model):
        attention, output = part(block, tiny.attention), part(block, tiny.output)
        handles += [
            attention.register_forward_pre_hook(
                lambda m, args, kwargs: seen["x"].append(kwargs.get("hidden_states", args[0] if args else None)),
                with_kwargs=True,
            ),
            output.register_forward_pre_hook(lambda m, args: seen["z"].append(args[0])),
            output.register_forward_hook(lambda m, args, result: seen["out"].append(result)),
        ]
    result = model(IDS, output_attentions=True, output_hidden_states=True)
    for handle in handles:
        handle.remove()
    return seen, result


def test_head_outputs_before_the_projection_equal_transformers(case):
    """Pattern times our values is what enters transformers' output projection, for every head of every layer."""
    tiny, model, weights = case
    seen, result = record(model, tiny)
    card = weights.card
    for layer in card.layers:
        values = torch.einsum("td,gde->gte", seen["x"][layer][0], weights.values(layer))
        values = values.repeat_interleave(card.heads // card.kv_heads, 0)
        z = torch.einsum("hij,hje->ihe", result.attentions[layer][0], values)
        torch.testing.assert_close(z.flatten(1), seen["z"][layer][0].view(len(IDS[0]), -1), atol=2e-4, rtol=1e-4)


def test_projected_outputs_equal_transformers(case):
    """The heads' outputs through our W_O add up to the attention block's output."""
    tiny, model, weights = case
    seen, _ = record(model, tiny)
    card = weights.card
    for layer in card.layers:
        z = seen["z"][layer][0].view(-1, card.heads, card.head_dim)
        out = torch.einsum("the,hed->td", z, weights.outputs(layer))
        torch.testing.assert_close(out, seen["out"][layer][0].view_as(out), atol=2e-4, rtol=1e-4)


def test_first_mlp_on_the_embeddings_equals_transformers(case):
    """X of the later layers is the first block's own norm and MLP on the (scaled) embedding, biases included."""
    tiny, model, weights = case
    embedded = model.get_input_embeddings()(IDS[0])
    if weights.checkpoint.family.scale_embedding:
        _, result = record(model, tiny)
        embedded = result.hidden_states[0][0]
    torch.testing.assert_close(weights.embed(IDS[0]), embedded, atol=1e-5, rtol=1e-5)
    block = blocks(model)[0]
    normed = part(block, tiny.norm)(embedded)
    expected = tiny.mlp(block, normed) if callable(tiny.mlp) else part(block, tiny.mlp)(normed)
    torch.testing.assert_close(weights.first_mlp()(weights.embed(IDS[0])), expected, atol=2e-4, rtol=1e-4)


def test_unembedding_equals_transformers(case):
    """Rows of U give the model's logits, whether tied or not."""
    _, model, weights = case
    head = model.get_output_embeddings()
    hidden = torch.randn(4, weights.card.width)
    bias = 0 if head.bias is None else head.bias
    logits = hidden @ weights.unembed_span(0, weights.vocabulary).T
    torch.testing.assert_close(logits, head(hidden) - bias, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(weights.unembed(IDS[0]), weights.unembed_span(0, weights.vocabulary)[IDS[0]])


def test_every_model_type_of_every_family_is_tested():
    """A row without a tiny model would be a promise nobody keeps."""
    tested = {tiny.make().config.model_type for tiny in tiny_models.FAMILIES.values()}
    assert tested == set(BY_MODEL_TYPE)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_half_precision_and_shards_read_the_same(tmp_path, family, dtype):
    """float16 and bfloat16 files, in many shards, give the rounded numbers as float32, and one fingerprint."""
    model = tiny_models.FAMILIES[family].make().to(dtype)
    whole = Checkpoint.open(tiny_models.save(model, tmp_path / "whole", dtype))
    model = tiny_models.FAMILIES[family].make()
    sharded = Checkpoint.open(tiny_models.save(model, tmp_path / "sharded", dtype, max_shard_size="20KB"))
    assert len({info.file for info in sharded.tensors.values()}) > 2
    assert whole.card.fingerprint == sharded.card.fingerprint
    assert whole.card.dtype == str(dtype).removeprefix("torch.")
    one, two = Weights(whole), Weights(sharded)
    for layer in whole.card.layers:
        assert one.values(layer).dtype == torch.float32
        assert torch.equal(one.values(layer), two.values(layer))
        assert torch.equal(one.outputs(layer), two.outputs(layer))
        assert torch.equal(one.outputs(layer), one.outputs(layer).to(dtype).float())


def test_multimodal_wrapper_is_read_by_its_language_model(tmp_path):
    """A Gemma 3 checkpoint with a vision tower keeps its language model one level deeper."""
    import json

    from safetensors.torch import load_file, save_file

    model = tiny_models.FAMILIES["gemma3"].make()
    folder = tiny_models.save(model, tmp_path)
    plain = Weights(Checkpoint.open(folder))
    expected = plain.outputs(1)
    tensors = load_file(folder / "model.safetensors")
    save_file({f"language_model.{name}": t for name, t in tensors.items()}, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({"model_type": "gemma3", "text_config": config}))
    assert torch.equal(Weights(Checkpoint.open(folder)).outputs(1), expected)


@pytest.mark.parametrize(
    ("family", "prefix", "other"),
    [
        ("gpt2", "transformer.", ""),
        ("gptj", "transformer.", ""),
        ("gpt_neo", "transformer.", ""),
        ("gpt_neox", "gpt_neox.", ""),
        ("opt", "model.decoder.", "decoder."),
        ("gemma3", "model.", "model.language_model."),
    ],
)
def test_checkpoints_of_the_bare_model_are_read_too(tmp_path, family, prefix, other):
    """The hub has checkpoints with and without the base model's prefix; both hold the same numbers."""
    from safetensors.torch import load_file, save_file

    folder = tiny_models.save(tiny_models.FAMILIES[family].make(), tmp_path)
    plain = Weights(Checkpoint.open(folder))
    expected = [plain.values(1), plain.outputs(1), plain.unembed_span(0, 300), plain.embed(IDS[0])]
    path = folder / "model.safetensors"
    tensors = {
        other + name.removeprefix(prefix) if name.startswith(prefix) else name: tensor
        for name, tensor in load_file(path).items()
    }
    save_file(tensors, path)
    bare = Weights(Checkpoint.open(folder))
    found = [bare.values(1), bare.outputs(1), bare.unembed_span(0, 300), bare.embed(IDS[0])]
    assert all(torch.equal(one, two) for one, two in zip(expected, found, strict=True))


@pytest.mark.parametrize("head", ["lm_head.weight", "language_model.lm_head.weight"])
def test_unembedding_of_a_multimodal_wrapper(tmp_path, head):
    """An untied head lies at the top or beside its language model."""
    import json

    from safetensors.torch import load_file, save_file

    folder = tiny_models.save(tiny_models.FAMILIES["gemma3"].make(), tmp_path)
    tensors = {f"language_model.{name}": t for name, t in load_file(folder / "model.safetensors").items()}
    tensors[head] = torch.randn(300, 32)
    save_file(tensors, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text()) | {"tie_word_embeddings": False}
    wrapped = {"model_type": "gemma3", "text_config": config, "tie_word_embeddings": False}
    (folder / "config.json").write_text(json.dumps(wrapped))
    assert torch.equal(Weights(Checkpoint.open(folder)).unembed_span(0, 300), tensors[head])


def test_a_head_that_differs_is_used_although_the_config_calls_it_tied(tmp_path):
    """transformers does not tie an lm_head that differs from the embedding; neither do we."""
    from safetensors.torch import load_file, save_file

    folder = tiny_models.save(tiny_models.FAMILIES["llama-tied"].make(), tmp_path)
    tensors = load_file(folder / "model.safetensors")
    save_file(tensors | {"lm_head.weight": torch.randn(300, 32)}, folder / "model.safetensors")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(folder).get_output_embeddings().weight
    assert torch.equal(Weights(Checkpoint.open(folder)).unembed_span(0, 300), theirs)


def test_numbers_that_published_configs_leave_out(tmp_path):
    """Gemma 3's configs rely on transformers' defaults for heads; our row carries the same defaults."""
    default = transformers.Gemma3TextConfig()
    row = dict(BY_MODEL_TYPE["gemma3_text"].defaults)
    assert row == {name: getattr(default, name) for name in row}
    assert dict(BY_MODEL_TYPE["gemma2"].defaults) == {n: getattr(transformers.Gemma2Config(), n) for n in row}
    assert dict(BY_MODEL_TYPE["gemma"].defaults) == {n: getattr(transformers.GemmaConfig(), n) for n in row}
