import json
import shutil
import struct
from contextlib import suppress

import pytest
import torch

from analysis import errors
from analysis.compute.gated_model import GatedModel
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import Vocabulary
from tests import tiny_models


@pytest.fixture
def folder(tiny_folder, tmp_path):
    """A copy to damage."""
    return shutil.copytree(tiny_folder, tmp_path / "model")


def edit_config(folder, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not ...}))


def write_header(folder, header):
    content = json.dumps(header).encode() if not isinstance(header, bytes) else header
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(content)) + content + bytes(64))


def test_card_says_what_the_config_says(folder):
    """The card of a grouped-query model carries its shape."""
    card = Checkpoint.open(folder).card
    assert (len(card.layers), card.heads, card.kv_heads, card.head_dim, card.width) == (3, 4, 2, 8, 32)
    assert (card.vocabulary, card.family, card.dtype) == (300, "Llama", "float32")
    assert card.revision == card.fingerprint[:8]


def test_unknown_family(folder):
    """An architecture without a row is named, with those that have one."""
    edit_config(folder, model_type="mamba")
    with pytest.raises(errors.UnknownFamily, match="'mamba'") as caught:
        Checkpoint.open(folder)
    assert "gpt2" in caught.value.hint


def test_family_variant_that_does_not_hold(tmp_path):
    """opt-350m norms after the block; its row refuses it instead of reading it wrongly."""
    folder = tiny_models.save(tiny_models.FAMILIES["opt"].make(), tmp_path)
    edit_config(folder, do_layer_norm_before=False)
    with pytest.raises(errors.UnknownFamily, match="do_layer_norm_before"):
        Checkpoint.open(folder)


def test_folder_without_safetensors_names_what_it_has(folder):
    """Pickled weights are not read, and the message says so."""
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(errors.NoSafetensors, match="pytorch_model.bin"):
        Checkpoint.open(folder)
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(errors.NoSafetensors, match="no weights at all"):
        Checkpoint.open(folder)


def test_missing_shard(tmp_path):
    """A shard that the index names and the folder lacks is named."""
    folder = tiny_models.save(tiny_models.FAMILIES["llama"].make(), tmp_path, max_shard_size="20KB")
    shard = sorted(folder.glob("*.safetensors"))[1]
    shard.unlink()
    with pytest.raises(errors.MissingShard, match=shard.name):
        Checkpoint.open(folder)


def test_truncated_file(folder):
    """A file cut short by a broken download is noticed before anything is computed."""
    path = folder / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1000])
    with pytest.raises(errors.DamagedFile, match="truncated"):
        Checkpoint.open(folder)
    path.write_bytes(content[:5])
    with pytest.raises(errors.DamagedFile):
        Checkpoint.open(folder)


@pytest.mark.parametrize(
    "header",
    [
        b"not json",
        b"[1, 2]",
        pytest.param(b'{"a": ' + b"[" * 100_000, id="nested"),
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [-4], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [4]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [-4, 12]}},
        {"a": {"dtype": "F32", "shape": [2, -2], "data_offsets": [16, 0]}},
        {"a": 7},
        b'{"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, Infinity]}}',
        {"a": {"dtype": "F8", "shape": [4], "data_offsets": [8, 4]}},
    ],
)
def test_headers_that_lie(folder, header):
    """A header that is no JSON, or whose shapes and offsets disagree, is damage."""
    write_header(folder, header)
    with pytest.raises(errors.DamagedFile):
        Checkpoint.open(folder)


def test_header_length_beyond_the_file(folder):
    """A header that claims more bytes than the file has is not read."""
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 2**62) + b"{}")
    with pytest.raises(errors.DamagedFile, match="truncated"):
        Checkpoint.open(folder)


def test_index_that_points_out_of_the_folder(folder):
    """Shards lie beside their index; a path elsewhere is refused."""
    index = {"weight_map": {"a": "../secret.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(errors.DamagedFile, match="secret"):
        Checkpoint.open(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_size": 64},
        {"num_attention_heads": 8},
        {"num_key_value_heads": 4},
        {"num_key_value_heads": 3},
        {"head_dim": 16},
        {"num_attention_heads": 0},
        {"hidden_size": "wide"},
        {"num_hidden_layers": ...},
        {"num_hidden_layers": 2},
        {"num_hidden_layers": 10**9},
        {"num_attention_heads": 4.7},
        {"num_attention_heads": True},
        {"vocab_size": 299},
        {"intermediate_size": 47},
        {"rms_norm_eps": "small"},
    ],
)
def test_config_that_contradicts_the_tensors(folder, changes):
    """Heads, widths and layers in config.json must fit the tensors."""
    edit_config(folder, **changes)
    with pytest.raises(errors.ConfigMismatch):
        Checkpoint.open(folder)


NUMBERS = ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "num_hidden_layers")
STRANGE = ([], [3], {}, float("nan"), float("inf"), float("-inf"), 10**400, "3", -1)


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: str(value)[:10])
@pytest.mark.parametrize("key", [*NUMBERS, "vocab_size", "intermediate_size", "rms_norm_eps"])
def test_numbers_that_are_none_are_named(folder, key, value):
    """Lists, NaN, infinities and numbers beyond all measure in config.json are named errors."""
    edit_config(folder, **{key: value})
    if not (key == "intermediate_size" and value in ([], {})):  # as if it was not given
        with pytest.raises(errors.ModelError):
            Checkpoint.open(folder)


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: str(value)[:10])
def test_a_model_that_transformers_cannot_run_is_named(folder, value):
    """Numbers that only the running model needs: it runs, or the error is a named one."""
    edit_config(folder, rope_theta=value, max_position_embeddings=value, initializer_range=value)
    with suppress(errors.ModelError):
        GatedModel(Checkpoint.open(folder))


def test_a_deeply_nested_index_is_damage(folder):
    """Not a traceback."""
    (folder / "model.safetensors.index.json").write_text('{"weight_map": ' + "[" * 100_000)
    with pytest.raises(errors.DamagedFile):
        Checkpoint.open(folder)


def test_an_empty_vocabulary_is_named(folder):
    """A model without a single embedding, and a tokenizer without a single token."""
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    tensors = load_file(path)
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        if name in tensors:
            tensors[name] = torch.zeros(0, 32)
    save_file(tensors, path)
    edit_config(folder, vocab_size=0)
    with pytest.raises(errors.ConfigMismatch, match="no embeddings"):
        Checkpoint.open(folder)
    tokenizer = {"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(errors.TokenizerMissing):
        Vocabulary.open(folder)


def test_more_layers_than_tensors(folder):
    """A config that promises a layer without tensors names the first that is missing."""
    edit_config(folder, num_hidden_layers=4)
    with pytest.raises(errors.MissingTensor, match="model.layers.3"):
        Checkpoint.open(folder)


def test_untied_without_unembedding(tmp_path):
    """A tied checkpoint whose config claims otherwise lacks its unembedding."""
    folder = tiny_models.save(tiny_models.FAMILIES["llama-tied"].make(), tmp_path)
    edit_config(folder, tie_word_embeddings=False)
    with pytest.raises(errors.MissingTensor, match="unembedding"):
        Checkpoint.open(folder)


def test_unreadable_number_format(folder):
    """8-bit weights are refused by name instead of being misread."""
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors["model.layers.1.self_attn.o_proj.weight"] = torch.zeros(32, 32, dtype=torch.int8)
    save_file(tensors, path)
    with pytest.raises(errors.UnsupportedDtype, match="I8"):
        Checkpoint.open(folder)


@pytest.mark.parametrize("content", ["{", "[]", "\x00", pytest.param("[" * 100_000, id="nested")])
def test_damaged_config(folder, content):
    """A config.json that is no JSON object is damage, not a traceback."""
    (folder / "config.json").write_text(content)
    with pytest.raises(errors.DamagedFile):
        Checkpoint.open(folder)


def test_folder_that_is_none(tmp_path):
    """No folder, or one without config.json: not found."""
    for folder in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(errors.ModelNotFound):
            Checkpoint.open(folder)


def test_fingerprint_knows_content_not_place(folder, tiny_folder):
    """A copy has the same fingerprint; other weights, another tokenizer or another config do not."""
    original = Checkpoint.open(tiny_folder).card.fingerprint
    assert Checkpoint.open(folder).card.fingerprint == original
    edit_config(folder, transformers_version="0.0")
    assert Checkpoint.open(folder).card.fingerprint == original
    edit_config(folder, rms_norm_eps=1e-3)
    assert Checkpoint.open(folder).card.fingerprint != original
    other = tiny_models.save(tiny_models.FAMILIES["llama"].make(seed=1), folder)
    changed = Checkpoint.open(other).card.fingerprint
    assert changed != original
    tiny_models.save_tokenizer(folder, 200)
    assert Checkpoint.open(folder).card.fingerprint != changed


def test_numbers_that_are_not_finite(folder):
    """A checkpoint that overflowed in training gets a named error, not a map full of nonsense."""
    from safetensors.torch import load_file, save_file

    from analysis.compute.weights import Weights

    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors["model.layers.1.self_attn.o_proj.weight"][3, 3] = float("nan")
    save_file(tensors, path)
    weights = Weights(Checkpoint.open(folder))
    weights.outputs(0)
    with pytest.raises(errors.DamagedFile, match="not finite"):
        weights.outputs(1)


@pytest.mark.parametrize(
    "name", ["mlp.gate_proj", "mlp.down_proj", "mlp.up_proj", "post_attention_layernorm", "self_attn.v_proj"]
)
def test_tensors_of_another_shape(folder, name):
    """Every tensor that will be read is checked, the first MLP and its norm too."""
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    tensors = load_file(path)
    name = f"model.layers.0.{name}.weight"
    tensors[name] = tensors[name][..., :-1].contiguous()
    save_file(tensors, path)
    with pytest.raises(errors.ConfigMismatch, match=name):
        Checkpoint.open(folder)


def test_fingerprint_sees_all_parts_of_a_tensor(folder, tiny_folder):
    """A change in the middle of every tensor, away from its ends, gives another fingerprint."""
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    tensors = load_file(path)
    for tensor in tensors.values():
        if tensor.dim() == 2:
            tensor[len(tensor) // 3 : len(tensor) // 2] += 1
    save_file(tensors, path, metadata={"format": "pt"})
    assert Checkpoint.open(folder).card.fingerprint != Checkpoint.open(tiny_folder).card.fingerprint
