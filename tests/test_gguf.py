import json
import os
import resource
import shutil
import struct
import tracemalloc
from pathlib import Path

import gguf as gguf_package
import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM
from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES

from analysis import errors
from analysis.cli import main
from analysis.compute.layered.model import LayeredModel
from analysis.compute.loaded_model import load_model
from analysis.compute.weights import Weights
from analysis.jobs.worker import ModelSource
from analysis.models import builtin as default_model
from analysis.models import gguf, gguf_rope
from analysis.models.families import BY_MODEL_TYPE
from analysis.models.gguf_file import GgufFile
from analysis.models.location import find_model
from analysis.models.sources import fetched_models, listed_file, listed_models, open_gguf, open_listed, open_model
from analysis.models.vocabulary import Vocabulary
from tests import gguf_files
from tests.tiny_models import LLAMA, Tiny


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """A small Llama as one GGUF file; tests that change it copy it first."""
    model = gguf_files.MODELS["llama"].make()
    return gguf_files.write(tmp_path_factory.mktemp("gguf") / "small.gguf", "llama", model)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One cache for the tests that look at what a conversion gives."""
    return tmp_path_factory.mktemp("cache")


def left_behind(cache):
    """Everything in the folder of conversions."""
    return sorted(path.name for path in (cache / "models").glob("*")) if (cache / "models").exists() else []


# ---- What a conversion gives -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", gguf.ARCHITECTURES)
def test_every_architecture_predicts_as_transformers_own_loader(name, tmp_path, cache):
    """The converted checkpoint, transformers' GGUF loader and the model that the file was made of agree."""
    model = gguf_files.MODELS[name].make()
    path = gguf_files.write(tmp_path / f"{name}.gguf", name, model)
    opened = open_gguf(path, cache)
    converted = AutoModelForCausalLM.from_pretrained(opened.folder)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=path.name, dtype="float32")
    assert {key: tensor.shape for key, tensor in converted.state_dict().items()} == {
        key: tensor.shape for key, tensor in theirs.state_dict().items()
    }
    np.testing.assert_allclose(gguf_files.logits(converted), gguf_files.logits(theirs), atol=1e-5)
    np.testing.assert_allclose(gguf_files.logits(converted), gguf_files.logits(model), atol=1e-3)
    assert opened.card.id == f"{name}.gguf"
    assert opened.card.dtype == "float32"
    assert Vocabulary.open(opened.folder).single(["hi"])


def test_quantised_weights_are_what_transformers_makes_of_them(tmp_path, cache):
    """Every number of an 8-bit file equals that of transformers' own loader, and tied embeddings stay tied."""
    model = gguf_files.MODELS["llama"].make()
    path = gguf_files.write(tmp_path / "model.gguf", "llama", model, gguf_files.Q8_0)
    opened = open_gguf(path, cache)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=path.name).state_dict()
    converted = AutoModelForCausalLM.from_pretrained(opened.folder).state_dict()
    for key, tensor in theirs.items():
        np.testing.assert_array_equal(converted[key].numpy(), tensor.numpy())
    assert "lm_head.weight" not in opened.tensors
    assert opened.card.note == "8-bit weights (GGUF Q8_0), dequantised to float32"


def test_the_architectures_are_those_that_loader_and_families_share():
    """None is left out; Mistral's files say llama."""
    known = {"gemma3_text": "gemma3"}
    families = {known.get(model_type, model_type) for model_type in BY_MODEL_TYPE}
    assert families & set(GGUF_SUPPORTED_ARCHITECTURES) - {"mistral"} == set(gguf.ARCHITECTURES)


def test_a_llama_that_is_called_mistral(tmp_path, cache):
    """Transformers goes by the name and opens it as a Mistral, which has the same weights."""
    model = gguf_files.MODELS["llama"].make()
    opened = open_gguf(gguf_files.write(tmp_path / "m.gguf", "llama", model, title="mistral"), cache)
    assert opened.config["model_type"] == "mistral"
    converted = AutoModelForCausalLM.from_pretrained(opened.folder)
    np.testing.assert_allclose(gguf_files.logits(converted), gguf_files.logits(model), atol=1e-3)


def test_numbers_that_transformers_overlooks_are_read(tmp_path, cache):
    """The width of Qwen 3's heads is taken from the file, not from the size that published models have."""
    model = Tiny("Qwen3Config", gguf_files.ROWS, **LLAMA, extra={"head_dim": 16}).make()
    opened = open_gguf(gguf_files.write(tmp_path / "model.gguf", "qwen3", model), cache)
    assert opened.card.head_dim == 16
    converted = AutoModelForCausalLM.from_pretrained(opened.folder)
    np.testing.assert_allclose(gguf_files.logits(converted), gguf_files.logits(model), atol=1e-3)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (gguf_files.F16, "16-bit weights (GGUF F16), read as float32"),
        (gguf_files.F32, "32-bit weights (GGUF F32), read as float32"),
    ],
)
def test_the_card_names_the_kind_of_weights(kind, words, tmp_path):
    """Files that are not quantised say so too."""
    path = gguf_files.write(tmp_path / "model.gguf", "llama", gguf_files.MODELS["llama"].make(), kind)
    assert gguf.note(GgufFile.open(path)) == words


def test_the_kind_is_that_of_most_weights_when_the_file_does_not_say(tmp_path):
    """A file type that nobody knows is not believed."""
    path = gguf_files.write(tmp_path / "model.gguf", "llama", gguf_files.MODELS["llama"].make(), gguf_files.Q8_0)
    content = path.read_bytes()
    key = content.index(b"general.file_type") + len(b"general.file_type") + 4
    path.write_bytes(content[:key] + struct.pack("<I", 999) + content[key + 4 :])
    assert GgufFile.open(path).quantisation == "Q8_0"


LLAMA_3 = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}


def test_llama_3_scaling_is_found_in_its_table(tmp_path, cache):
    """The stretched frequencies give the config that the model had, and its predictions far into a text."""
    rope = {**LLAMA_3, "original_max_position_embeddings": 8192, "rope_theta": 500_000.0}
    extra = {"head_dim": 64, "rope_parameters": rope, "tie_word_embeddings": True}
    model = Tiny("LlamaConfig", gguf_files.ROWS, **LLAMA, extra=extra).make()
    plain = 500_000.0 ** -(np.arange(32) / 32)
    table = (plain / model.model.rotary_emb.inv_freq.numpy()).astype(np.float32)
    path = gguf_files.write(tmp_path / "model.gguf", "llama", model, more={"rope_freqs.weight": table})
    opened = open_gguf(path, cache)
    assert opened.config["rope_parameters"] == rope
    assert opened.card.note == "32-bit weights (GGUF F32), read as float32"
    converted = AutoModelForCausalLM.from_pretrained(opened.folder)
    np.testing.assert_allclose(gguf_files.logits(converted, 250), gguf_files.logits(model, 250), atol=1e-3)
    other = gguf_files.write(tmp_path / "other.gguf", "llama", model, more={"rope_freqs.weight": table * table})
    assert gguf.note(GgufFile.open(other)).endswith("; its rope scaling is not read, so it cannot be run")


def test_linear_scaling_is_read(tmp_path, cache):
    """Of Gemma 3, whose larger models stretch only the layers with full attention."""
    rope = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}}
    rope["sliding_attention"] = {"rope_type": "default", "rope_theta": 1e4}
    extra = {"head_dim": 16, "rope_parameters": rope, "layer_types": ["sliding_attention"] * 5 + ["full_attention"]}
    model = Tiny("Gemma3TextConfig", {**gguf_files.ROWS, "num_hidden_layers": 6}, **LLAMA, extra=extra).make()
    path = gguf_files.write(tmp_path / "model.gguf", "gemma3", model, **{"rope.scaling.factor": 8})
    converted = AutoModelForCausalLM.from_pretrained(open_gguf(path, cache).folder)
    np.testing.assert_allclose(gguf_files.logits(converted, 250), gguf_files.logits(model, 250), atol=1e-3)


def test_a_file_that_reads_images_gives_its_language_model(tmp_path, cache):
    """Ollama's Gemma 3: without the tensors for images, with full attention stretched though no key says so."""
    rope = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}}
    rope["sliding_attention"] = {"rope_type": "default", "rope_theta": 1e4}
    extra = {"head_dim": 16, "rope_parameters": rope, "layer_types": ["sliding_attention"] * 5 + ["full_attention"]}
    model = Tiny("Gemma3TextConfig", {**gguf_files.ROWS, "num_hidden_layers": 6}, **LLAMA, extra=extra).make()
    images = {name: np.ones(4, np.float32) for name in ("v.blk.0.attn_k.bias", "mm.mm_soft_emb_norm.weight")}
    path = gguf_files.write(tmp_path / "model.gguf", "gemma3", model, more=images, **{"vision.block_count": 1})
    assert_the_same_far_into_a_text(path, model, cache)
    other = gguf_files.write(tmp_path / "o.gguf", "llama", gguf_files.MODELS["llama"].make(), more=images)
    assert "v.blk.0.attn_k.bias" in refused(other, tmp_path / "empty", errors.UnknownFamily)


def assert_the_same_far_into_a_text(path, model, cache):
    """The converted checkpoint predicts what the model that the file was made of does; returns its config."""
    opened = open_gguf(path, cache)
    assert "not read" not in opened.card.note
    converted = AutoModelForCausalLM.from_pretrained(opened.folder)
    np.testing.assert_allclose(gguf_files.logits(converted, 250), gguf_files.logits(model, 250), atol=1e-3)
    return opened.config


@pytest.mark.parametrize(("name", "layers"), [("gemma2", 46), ("gemma3", 62)])
def test_the_largest_gemmas_divide_attention_by_another_number(name, layers, tmp_path):
    """By the width of all heads, known by the number of layers, as in llama.cpp: 144 and 168 instead of 256."""
    width, heads = {"gemma2": (4608, 32), "gemma3": (5376, 32)}[name]
    said = {"block_count": layers, "embedding_length": width, "attention.head_count": heads}
    large = GgufFile((), {f"{name}.{key}": value for key, value in said.items()} | {"general.architecture": name}, ())
    assert gguf._overlooked(large)["query_pre_attn_scalar"] == width // heads
    small = gguf_files.write(tmp_path / "small.gguf", name, gguf_files.MODELS[name].make())
    assert "query_pre_attn_scalar" not in gguf._overlooked(GgufFile.open(small))


def test_the_number_that_attention_is_divided_by_is_written(tmp_path, monkeypatch):
    """A tiny model that counts as one of the largest predicts as the model that its file was made of."""
    tiny = gguf_files.MODELS["gemma3"]
    model = Tiny(tiny.config, tiny.sizes, **LLAMA, extra={"head_dim": 16, "query_pre_attn_scalar": 8}).make()
    monkeypatch.setitem(gguf._GEMMA_27B, "gemma3", model.config.num_hidden_layers)
    config = assert_the_same_far_into_a_text(gguf_files.write(tmp_path / "m.gguf", "gemma3", model), model, tmp_path)
    assert config["query_pre_attn_scalar"] == 8


def phi3(**rope):
    """A Phi-3 that rotates three quarters of each head's 16 dimensions."""
    rope = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.75, **rope}
    sizes = {**gguf_files.ROWS, "hidden_size": 64}
    extra = {"pad_token_id": 0, "rope_parameters": rope, "max_position_embeddings": 400}
    extra["original_max_position_embeddings"] = rope.get("original_max_position_embeddings", 400)
    return Tiny("Phi3Config", sizes, **LLAMA, extra=extra).make()


def test_heads_that_are_rotated_in_part_stay_so(tmp_path, cache):
    """Phi-4-mini rotates fewer dimensions than a head of it has."""
    model = phi3()
    config = assert_the_same_far_into_a_text(gguf_files.write(tmp_path / "m.gguf", "phi3", model), model, cache)
    assert config["rope_parameters"]["partial_rotary_factor"] == 0.75


@pytest.mark.parametrize("original", [100, 300])
def test_longrope_is_read_from_its_tables(original, tmp_path, cache):
    """In a text beyond the original length and in one within it, with the factor of attention that the file gives."""
    short, long = np.linspace(1, 2, 6).astype(np.float32), np.linspace(1, 8, 6).astype(np.float32)
    rope = {"short_factor": short.tolist(), "long_factor": long.tolist()}
    rope |= {"original_max_position_embeddings": original, "attention_factor": 1.25}
    model = phi3(rope_type="longrope", **rope)
    tables = {"rope_factors_long.weight": long, "rope_factors_short.weight": short}
    said = {"rope.scaling.original_context_length": original, "rope.scaling.attn_factor": 1.25}
    path = gguf_files.write(tmp_path / "m.gguf", "phi3", model, more=tables, **said)
    config = assert_the_same_far_into_a_text(path, model, cache)
    assert config["original_max_position_embeddings"] == original


@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3"])
def test_yarn_is_read(name, tmp_path, cache):
    """Of the architectures whose models transformers stretches so."""
    tiny = gguf_files.MODELS[name]
    rope = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "rope_theta": 1e4}
    extra = {**tiny.extra, "head_dim": 16, "rope_parameters": rope, "max_position_embeddings": 256}
    model = Tiny(tiny.config, tiny.sizes, **LLAMA, extra=extra).make()
    said = {"type": "yarn", "factor": 4.0, "original_context_length": 64}
    metadata = {f"rope.scaling.{key}": value for key, value in said.items()}
    path = gguf_files.write(tmp_path / "m.gguf", name, model, **metadata)
    assert_the_same_far_into_a_text(path, model, cache)
    other = gguf_files.write(tmp_path / "o.gguf", name, model, **metadata, **{"rope.scaling.yarn_ext_factor": 0.5})
    assert gguf_rope.scaling(GgufFile.open(other)) is None


def test_a_model_whose_scaling_is_not_read_is_not_run(tmp_path, cache):
    """The card says so, the weights-only map has all it needs, and running it is refused in words."""
    more = {name: np.ones(4, np.float32) for name in ("rope_factors_long.weight", "rope_factors_short.weight")}
    model = gguf_files.MODELS["qwen2"].make()
    opened = open_gguf(gguf_files.write(tmp_path / "model.gguf", "qwen2", model, more=more), cache)
    assert opened.card.note.endswith("; its rope scaling is not read, so it cannot be run")
    weights = Weights(opened)
    assert weights.outputs(0).isfinite().all()
    with pytest.raises(errors.UnknownFamily, match="in a way that is not known"):
        load_model(opened, torch.device("cpu"))
    with pytest.raises(errors.UnknownFamily, match="in a way that is not known"):
        LayeredModel(weights, torch.arange(3))


def test_the_default_model_keeps_its_name(default_checkpoint):
    """Shipped results name the default model by its fingerprint; its note is what its file says."""
    assert default_checkpoint.card.fingerprint.startswith("935ba989")
    assert gguf.note(GgufFile.open(default_model._gguf())) == default_model.NOTE


# ---- Once ------------------------------------------------------------------------------------------------------------


def test_what_a_killed_conversion_left_is_removed_by_the_next_one(llama, tmp_path):
    """Once nothing has been written to it for a long time; before that another process may be at work on it."""
    models = tmp_path / "models"
    for name in (".converting-killed", ".converting-at-work"):
        (models / name / "model").mkdir(parents=True)
        (models / name / "model" / "model.safetensors").touch()
    for path in (*(models / ".converting-killed").rglob("*"), models / ".converting-killed"):
        os.utime(path, (1, 1))
    os.utime(models / ".converting-at-work", (1, 1))
    opened = open_gguf(llama, tmp_path)
    assert left_behind(tmp_path) == [".converting-at-work", opened.folder.name]


def test_a_copy_is_not_converted_again_and_a_changed_file_is(llama, tmp_path):
    """What counts is the content, not the name or the date."""
    first = open_gguf(llama, tmp_path)
    before = (first.folder / "model.safetensors").stat()
    copy = shutil.copyfile(llama, tmp_path / "copy.gguf")
    os.utime(copy, (1, 1))
    again = open_gguf(copy, tmp_path)
    assert again.folder == first.folder
    assert (again.folder / "model.safetensors").stat().st_mtime_ns == before.st_mtime_ns
    assert (first.card.id, again.card.id) == ("small.gguf", "copy.gguf")
    content = copy.read_bytes()
    copy.write_bytes(content[:-4] + struct.pack("<f", 1.5))
    assert open_gguf(copy, tmp_path).folder != first.folder
    assert len(left_behind(tmp_path)) == 2


def test_a_damaged_conversion_is_made_again(llama, tmp_path):
    """A conversion that was cut short on the disk is not an error of the file."""
    folder = open_gguf(llama, tmp_path).folder
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    assert open_gguf(llama, tmp_path).folder == folder
    assert weights.stat().st_size > 1000


def test_files_beside_it_are_not_read(llama, tmp_path):
    """A config or tokenizer of another model in the same folder changes nothing."""
    alone = open_gguf(llama, tmp_path / "one")
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_text('{"model_type": "gpt2", "tokenizer_class": "GPT2Tokenizer"}')
    beside = open_gguf(shutil.copy(llama, tmp_path / "beside.gguf"), tmp_path / "two")
    assert beside.card.fingerprint == alone.card.fingerprint


# ---- Parts -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def parts(tmp_path):
    """A model in three parts."""
    folder = tmp_path / "parts"
    folder.mkdir()
    gguf_files.write(folder / "big.gguf", "qwen2", gguf_files.MODELS["qwen2"].make(), parts=3)
    return sorted(folder.iterdir())


def test_any_part_opens_the_whole(parts, tmp_path):
    """Three parts give the checkpoint that one file gives, whichever is named."""
    assert [path.name for path in parts] == [f"big-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    whole = gguf_files.write(tmp_path / "whole.gguf", "qwen2", gguf_files.MODELS["qwen2"].make())
    expected = open_gguf(whole, tmp_path).card.fingerprint
    for path in parts:
        card = open_gguf(path, tmp_path).card
        assert (card.id, card.fingerprint) == ("big-00001-of-00003.gguf", expected)


def test_a_missing_part_is_named(parts, tmp_path):
    """The error says which part is not there."""
    parts[1].unlink()
    with pytest.raises(errors.MissingShard, match="big-00002-of-00003.gguf"):
        open_gguf(parts[0], tmp_path)
    alone = parts[0].rename(tmp_path / "renamed.gguf")
    with pytest.raises(errors.MissingShard, match="one of 3 parts"):
        open_gguf(alone, tmp_path)


def test_parts_of_two_models_are_refused(parts, tmp_path):
    """A part that stands in for another makes no model."""
    shutil.copy(parts[2], parts[1])
    with pytest.raises(errors.DamagedFile, match="do not belong to one model"):
        open_gguf(parts[0], tmp_path)


# ---- What cannot be opened -------------------------------------------------------------------------------------------


def refused(path, cache, error):
    """The error with which a file is refused; it has a hint, and nothing is left of the attempt."""
    with pytest.raises(error) as caught:
        open_gguf(path, cache)
    assert caught.value.hint
    assert left_behind(cache) == []
    return f"{caught.value} {caught.value.hint}"


def test_a_truncated_file_is_refused(llama, tmp_path):
    """Wherever the file ends too early: in its data, its metadata or its first bytes."""
    content, path = llama.read_bytes(), tmp_path / "cut.gguf"
    for end in (len(content) - 100, len(content) // 2, 3000, 100, 12, 4):
        path.write_bytes(content[:end])
        assert "truncated" in refused(path, tmp_path, errors.DamagedFile)


@pytest.mark.parametrize("content", [b"", b"GG", b"PK\x03\x04 a zip", b"\x00" * 500])
def test_what_is_no_gguf_file_is_refused(content, tmp_path):
    """The name alone does not make one."""
    path = tmp_path / "other.gguf"
    path.write_bytes(content)
    assert "is not a GGUF file" in refused(path, tmp_path, errors.DamagedFile)


def test_headers_that_lie_are_refused(tmp_path):
    """Counts and lengths beyond the file's end, other versions and unknown types end in words, and at once."""
    path = tmp_path / "lie.gguf"
    huge, entry = 2**60, struct.pack("<Q", 1) + b"a"
    lies = [
        struct.pack("<IQQ", 3, huge, 0),
        struct.pack("<IQQ", 3, 0, huge),
        struct.pack("<IQQQ", 3, 0, 1, huge),
        struct.pack("<IQQ", 3, 0, 1) + entry + struct.pack("<IIQ", 9, 4, huge),
        struct.pack("<IQQ", 3, 0, 1) + entry + struct.pack("<I", 77),
        struct.pack("<IQQ", 3, 1, 0) + entry + struct.pack("<I", huge % 2**31 + 9),
        struct.pack("<IQQ", 3, 1, 0) + entry + struct.pack("<IQIQ", 1, huge, 0, 0),
        struct.pack("<IQQ", 1, 0, 0),
        struct.pack(">IQQ", 3, 0, 0),
    ]
    for lie in lies:
        path.write_bytes(b"GGUF" + lie)
        refused(path, tmp_path, errors.DamagedFile)


def test_an_unknown_architecture_is_named(tmp_path):
    """The error names it, and those that are supported."""
    path = tmp_path / "mamba.gguf"
    writer = gguf_package.GGUFWriter(path, "mamba")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    words = refused(path, tmp_path, errors.UnknownFamily)
    assert "'mamba'" in words
    assert all(name in words for name in gguf.ARCHITECTURES)


def test_a_mixture_of_experts_is_refused(tmp_path):
    """Mixtral calls itself llama."""
    path = gguf_files.write(tmp_path / "m.gguf", "llama", gguf_files.MODELS["llama"].make(), expert_count=8)
    assert "mixture of experts" in refused(path, tmp_path, errors.UnknownFamily)


def test_a_file_without_a_tokenizer_is_refused(tmp_path):
    """Words cannot be looked up without one."""
    path = gguf_files.write(tmp_path / "m.gguf", "llama", gguf_files.MODELS["llama"].make(), tokenizer=False)
    assert "no tokenizer inside" in refused(path, tmp_path, errors.TokenizerMissing)


def test_a_tokenizer_that_cannot_be_read_is_refused(llama, tmp_path):
    """The weights that were written before are taken away again."""
    content, path = llama.read_bytes(), tmp_path / "m.gguf"
    key = b"tokenizer.ggml.model" + struct.pack("<IQ", 8, 5)
    path.write_bytes(content.replace(key + b"llama", key + b"plamo"))
    assert "'plamo'" in refused(path, tmp_path, errors.TokenizerMissing)


@pytest.mark.parametrize(("number", "words"), [(15, "Q8_K"), (4, "type 4")])
def test_weights_of_an_unsupported_kind_are_refused(llama, tmp_path, number, words):
    """One that gguf cannot dequantise, and one that llama.cpp has given up."""
    content, path = llama.read_bytes(), tmp_path / "m.gguf"
    name = b"token_embd.weight" + struct.pack("<IQQ", 2, 32, 300)
    shape = struct.pack("<IQQ", 2, 256, 30)
    assert name + struct.pack("<I", 0) in content
    changed = b"token_embd.weight" + shape + struct.pack("<I", number)
    path.write_bytes(content.replace(name + struct.pack("<I", 0), changed))
    assert words in refused(path, tmp_path, errors.UnsupportedDtype)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("llama.block_count", 5),
        ("llama.block_count", 2**31),
        ("llama.embedding_length", 64),
        ("llama.attention.head_count", 5),
        ("llama.attention.head_count", 0),
    ],
)
def test_metadata_that_contradict_the_tensors_are_refused(llama, tmp_path, old, new):
    """Layers, widths and heads that are not there."""
    content, path = llama.read_bytes(), tmp_path / "m.gguf"
    value = content.index(old.encode() + struct.pack("<I", 4)) + len(old) + 4
    path.write_bytes(content[:value] + struct.pack("<I", new) + content[value + 4 :])
    refused(path, tmp_path, errors.ConfigMismatch)


def test_tensors_too_many_or_too_few_are_refused(llama, tmp_path):
    """A bias that the architecture has not would be lost without a word; a norm that is missing would be random."""
    content, path = llama.read_bytes(), tmp_path / "m.gguf"
    path.write_bytes(content.replace(b"blk.0.attn_norm.weight", b"blk.0.attn_what.weight"))
    assert "blk.0.attn_what.weight" in refused(path, tmp_path, errors.UnknownFamily)
    path.write_bytes(content.replace(b"output_norm.weight", b"rope_norms__.weight"[:18]))
    assert "model.norm.weight" in refused(path, tmp_path, errors.MissingTensor)


def test_the_command_line_says_it_in_words(tmp_path, capsys, monkeypatch):
    """A wrong file and a wrong path end with exit code 3, an error and a hint."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "no.gguf").write_text("no")
    for name in ("no.gguf", "absent.gguf"):
        assert main(["map", str(tmp_path / name)]) == 3
        said = capsys.readouterr().err
        assert "error:" in said
        assert "hint:" in said
        assert "Traceback" not in said


def test_a_full_disk_is_said(llama, tmp_path):
    """A conversion without room is refused with the room that it needs."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        assert "It needs 0.1 GB" in refused(llama, tmp_path, errors.StoreError)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# ---- Names -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def models(llama, tmp_path):
    """A models directory with a file, one in a folder, links out of it and things that only look like files."""
    folder = tmp_path / "models"
    (folder / "org").mkdir(parents=True)
    shutil.copy(llama, folder / "small.gguf")
    shutil.copy(llama, folder / "org" / "small.gguf")
    (folder / "link.gguf").symlink_to(llama)
    (folder / "folder.gguf").mkdir()
    os.mkfifo(folder / "pipe.gguf")
    (folder / "part-00001-of-00002.gguf").write_bytes(b"GGUF")
    (folder / "part-00002-of-00002.gguf").symlink_to(llama)
    return folder


def test_files_of_the_models_directory_are_listed_and_opened_by_name(models, tmp_path):
    """Also one folder down; their ids are their names there."""
    assert listed_models(models) == ["org/small.gguf", "small.gguf"]
    for name in listed_models(models):
        assert open_listed(name, None, tmp_path, models).card.id == name


def test_the_folders_of_lm_studio_and_ollama_are_models_directories(models, llama, tmp_path):
    """publisher/repository/name.gguf, and blobs whose names are hashes; other blobs and links out are neither."""
    lm_studio, blobs = models / "publisher" / "small-GGUF", models / "blobs"
    lm_studio.mkdir(parents=True)
    blobs.mkdir()
    shutil.copy(llama, lm_studio / "small-Q8.gguf")
    shutil.copy(llama, blobs / "sha256-0123")
    (blobs / "sha256-4567").write_text("a licence")
    (lm_studio / "link.gguf").symlink_to(llama)
    (blobs / "sha256-89ab").symlink_to(llama)
    (models / "out").symlink_to(llama.parent)
    found = ["publisher/small-GGUF/small-Q8.gguf", "blobs/sha256-0123"]
    assert listed_models(models) == sorted([*found, "org/small.gguf", "small.gguf"])
    for name in found:
        assert find_model(name, "", tmp_path, models).stage.startswith("reading the GGUF file")
        assert open_listed(name, None, tmp_path, models).card.id == name
    for name in (
        "publisher/small-GGUF/link.gguf",
        "blobs/sha256-89ab",
        "blobs/sha256-4567",
        "out/small.gguf",
        "publisher/../small.gguf",
        "publisher/small-GGUF/deeper/small.gguf",
    ):
        assert listed_file(name, models) is None
        with pytest.raises(errors.ModelNotFound):
            open_listed(name, None, tmp_path, models)


@pytest.mark.parametrize(
    "name",
    [
        "link.gguf",
        "folder.gguf",
        "pipe.gguf",
        "part-00001-of-00002.gguf",
        "../small.gguf",
        "absent.gguf",
        "org/../small.gguf",
    ],
)
def test_what_is_no_file_of_the_models_directory_is_not_opened(models, tmp_path, name):
    """Links out of it, also of another part, paths, folders and pipes."""
    shutil.copy(models / "small.gguf", tmp_path / "small.gguf")
    assert listed_file(name, models) is None
    with pytest.raises(errors.ModelNotFound):
        open_listed(name, None, tmp_path, models)


def test_only_the_first_part_is_listed(parts):
    """The others are not models of their own, but open the same one."""
    assert listed_models(parts[0].parent) == ["big-00001-of-00003.gguf"]
    opened = open_listed("big-00002-of-00003.gguf", None, parts[0].parent / "cache", parts[0].parent)
    assert opened.card.id == "big-00001-of-00003.gguf"


def test_a_path_over_the_network_opens_nothing(llama, tmp_path, monkeypatch):
    """A file that exists in the working directory is not opened by its name."""
    monkeypatch.chdir(llama.parent)
    for name in (llama.name, str(llama), f"./{llama.name}"):
        with pytest.raises(errors.ModelNotFound):
            open_listed(name, None, tmp_path, tmp_path)


def test_a_fetched_model_is_opened_by_its_id(llama, tmp_path):
    """What `make gallery` put into the cache has the id as its name, on the command line and over the network."""
    (tmp_path / "gallery").mkdir()
    shutil.copy(llama, tmp_path / "gallery" / "some-model.gguf")
    assert open_model("some-model", None, tmp_path).card.id == "some-model"
    assert open_listed("some-model", None, tmp_path, None).card.id == "some-model"
    assert fetched_models(tmp_path) == ["some-model"]


def test_a_worker_opens_a_file_by_its_name(models, tmp_path, monkeypatch):
    """As it opens a folder: in its own models directory, converted into its own cache."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path / "cache"))
    assert ModelSource("org/small.gguf", "", str(models), "cpu").open().card.id == "org/small.gguf"
    assert len(left_behind(tmp_path / "cache")) == 1


def test_a_file_without_the_ending_is_known_by_its_content(llama, tmp_path):
    """Ollama names files by their hash; one that holds something else is still no model."""
    blob = shutil.copy(llama, tmp_path / "sha256-0123abcd")
    opened = open_model(str(blob), None, tmp_path)
    assert opened.card.id == "sha256-0123abcd"
    assert opened.card.fingerprint == open_gguf(llama, tmp_path).card.fingerprint
    with pytest.raises(errors.ModelNotFound, match="no revisions"):
        open_model(str(blob), "main", tmp_path)
    for content in (b"PK\x03\x04 a zip", b""):
        blob.write_bytes(content)
        with pytest.raises(errors.ModelNotFound, match="no folder or model"):
            open_model(str(blob), None, tmp_path)


def test_the_ending_may_be_in_capitals(llama, tmp_path):
    """A file of the models directory is then listed, too."""
    (tmp_path / "models").mkdir()
    shutil.copy(llama, tmp_path / "models" / "SMALL.GGUF")
    assert listed_models(tmp_path / "models") == ["SMALL.GGUF"]
    assert open_listed("SMALL.GGUF", None, tmp_path, tmp_path / "models").card.id == "SMALL.GGUF"


def test_files_have_no_revisions(llama, tmp_path):
    """A revision of a file on the disk is a misunderstanding."""
    with pytest.raises(errors.ModelNotFound, match="no revisions"):
        open_model(str(llama), "main", tmp_path)


def test_a_folder_with_gguf_files_alone_points_to_them(llama, tmp_path):
    """The folder is no checkpoint, but the file in it is a model."""
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    shutil.copy(llama, tmp_path / "small.gguf")
    with pytest.raises(errors.NoSafetensors) as caught:
        open_model(str(tmp_path), None, tmp_path)
    assert "/small.gguf" in caught.value.hint


# ---- BOS -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["llama", "gemma3", "qwen2", "gpt2"])
@pytest.mark.parametrize("bos", [True, False])
def test_a_text_begins_with_bos_if_the_file_says_so(name, bos, tmp_path, cache):
    """Exactly once, in whole texts and prefixes; and never if the file denies it."""
    path = gguf_files.write(tmp_path / "model.gguf", name, gguf_files.MODELS[name].make(), bos=bos)
    folder = open_gguf(path, cache).folder
    config = json.loads((folder / "tokenizer_config.json").read_text())
    assert (config["add_bos_token"], config["bos_token"]) == (bos, "<s>")
    words = Vocabulary.open(folder)
    ids = words.prefix("hi hi")
    assert ids == words.encoded(["hi hi"])[0].ids
    assert ids.count(1) == bos
    assert (ids[0] == 1) is bos
    assert 2 not in ids


@pytest.mark.parametrize(("name", "expected"), [("llama", True), ("qwen2", False)])
def test_a_file_that_does_not_say_gets_what_llama_cpp_does(name, expected, tmp_path, cache):
    """Sentencepiece vocabularies begin texts with BOS, byte vocabularies do not."""
    path = gguf_files.write(tmp_path / "model.gguf", name, gguf_files.MODELS[name].make())
    folder = open_gguf(path, cache).folder
    assert (1 in Vocabulary.open(folder).prefix("hi")) is expected


def test_a_link_out_of_the_models_directory_is_called_one(tmp_path):
    """Not a model that nobody knows."""
    (tmp_path / "elsewhere").mkdir()
    models = tmp_path / "models"
    models.mkdir()
    (models / "linked").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(errors.ModelNotFound, match="link out of the models directory"):
        open_listed("linked", None, tmp_path, models)
    with pytest.raises(errors.ModelNotFound, match="link out of the models directory"):
        find_model("linked", "", tmp_path, models)


def test_a_converted_files_tokenizer_can_be_asked_before_it_is_opened(tmp_path):
    """Looking for a GGUF file gives the folder of its conversion once there is one, and none for a damaged file."""
    models, cache = tmp_path / "models", tmp_path / "cache"
    models.mkdir()
    path = gguf_files.write(models / "small.gguf", "llama", gguf_files.MODELS["llama"].make())
    assert find_model("small.gguf", "", cache, models).folder is None
    opened = open_gguf(path, cache)
    assert find_model("small.gguf", "", cache, models).folder == opened.folder
    assert (opened.folder / "tokenizer.json").is_file()
    path.write_bytes(path.read_bytes()[:100])
    assert find_model("small.gguf", "", cache, models).folder is None


def test_looking_for_a_file_does_not_read_it(llama, tmp_path, monkeypatch):
    """The web server looks for models that anybody may have put there: a header may be hostile, a file a terabyte."""
    models = tmp_path / "models"
    models.mkdir()
    shutil.copy(llama, models)
    opened, real = open_listed("small.gguf", None, tmp_path, models), Path.open

    def unread(path, *arguments, **named):
        assert path.suffix != ".gguf"
        return real(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", unread)
    assert find_model("small.gguf", "", tmp_path, models).folder == opened.folder
    os.utime(models / "small.gguf", (1, 1))
    assert find_model("small.gguf", "", tmp_path, models).folder is None


def header(path, size, *content):
    """A file of a size, most of it never written, that begins with some numbers and bytes."""
    written = b"".join(one if isinstance(one, bytes) else struct.pack("<Q", one) for one in content)
    path.write_bytes(b"GGUF" + struct.pack("<I", 3) + written)
    os.truncate(path, size)
    return path


KEY = struct.pack("<Q", 1) + b"k"
TEXT, LIST_OF_BYTES = struct.pack("<I", 8), struct.pack("<II", 9, 0)


@pytest.mark.parametrize(
    "content",
    [
        (0, 1, KEY, TEXT, 300_000_000),  # a text of this length
        (0, 1, KEY, LIST_OF_BYTES, 11_000_000),
        (0, 2, KEY, LIST_OF_BYTES, 9_999_999),  # the counts of entries and values together
        (0, 11_000_000),
        (11_000_000, 0),
    ],
)
def test_a_header_larger_than_any_models_is_refused(tmp_path, content):
    """Whatever the file's size: before as much is read, or kept in memory."""
    path = header(tmp_path / "large.gguf", 10**12, *content)
    tracemalloc.start()
    with pytest.raises(errors.DamagedFile, match=r"header of large\.gguf"):
        GgufFile.open(path)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_a_name_that_speaks_of_very_many_parts_costs_one_look(llama, tmp_path, monkeypatch):
    """Whoever lists the models does not look for 99,999 files; the one that is there is listed and opened as one."""
    name, looked, real = "x-00001-of-99999.gguf", [], Path.resolve
    shutil.copy(llama, tmp_path / name)
    with monkeypatch.context() as counting:
        counting.setattr(Path, "resolve", lambda path, *strict: looked.append(path) or real(path, *strict))
        assert listed_models(tmp_path) == [name]
    assert len(looked) < 10
    assert open_listed(name, None, tmp_path / "cache", tmp_path).card.id == name


def test_a_pipe_is_no_file(tmp_path):
    """To open one may wait for ever."""
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(errors.DamagedFile, match="not a regular file"):
        open_model(str(tmp_path / "pipe.gguf"), None, tmp_path)
