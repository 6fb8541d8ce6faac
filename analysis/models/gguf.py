"""The conversion of a GGUF file, once, into a checkpoint folder in the cache: safetensors, config and tokenizer.

Tensors are dequantised one after the other straight into the new file, so memory holds one of them at a time.
"""

import hashlib
import io
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize
from numpy.typing import NDArray

from analysis.errors import (
    ConfigMismatch,
    MissingTensor,
    ModelError,
    StoreError,
    TokenizerMissing,
    UnknownFamily,
    UnsupportedDtype,
)
from analysis.models import gguf_rope
from analysis.models.checkpoint import MAX_LAYERS, UNREAD_ROPE, Config
from analysis.models.gguf_file import GgufFile, GgufTensor, part_names
from analysis.progress import Progress, silent

RECORDS = "gguf"  # the folder in the cache that says what files were converted to
_SCRATCH = ".converting-"  # how the folder begins in which a conversion is made
_ABANDONED = 3600.0  # seconds after which a conversion that wrote nothing was interrupted
_CONVERSION = 2  # to be raised whenever the conversion writes something else

# What llama.cpp calls the architectures that transformers' GGUF loader and our families both know.
ARCHITECTURES = ("gemma2", "gemma3", "gpt2", "llama", "phi3", "qwen2", "qwen3")

# llama.cpp divides the attention scores of the 27B models, known by their layers, by another number than of the others:
# the square root of the width of a head if all heads together were as wide as the model. The file does not say it.
_GEMMA_27B = {"gemma2": 46, "gemma3": 62}

_UNREAD = re.compile(r"rope_|.*\.(attn_rot_embd|rope_freqs)\.")  # tables, not weights
_VISION = re.compile(r"(v|mm)\.")  # Ollama keeps the part of Gemma 3 that reads images in the same file
_LLAMA_3 = ("llama3", "llama-v3", "llama-bpe")  # tokenizers that begin a text with BOS unless the file denies it


def folder(file: GgufFile, cache: Path, progress: Progress = silent) -> Path:
    """The folder of the converted checkpoint; the first use converts it."""
    target = _target(file, cache)
    convert(file, target, f"converting {file.name}, once", progress)
    _remember(file.paths[0], cache, target)
    return target


def convert(file: GgufFile, target: Path, stage: str, progress: Progress = silent, bos: bool = True) -> None:
    """Convert into a folder unless it is there; whole or not at all. Without `bos` nothing is said about BOS."""
    if target.is_dir():
        return
    check(file)
    progress(stage, 0, len(file.tensors))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_interrupted(target.parent)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=_SCRATCH) as scratch:
            made = Path(scratch) / "model"
            made.mkdir()
            _write_checkpoint(file, Path(scratch), made, bos, lambda done: progress(stage, done, len(file.tensors)))
            made.rename(target)
        progress(stage, len(file.tensors), len(file.tensors))
    except OSError as error:
        if not target.is_dir():  # otherwise another process was faster
            raise StoreError(
                f"{file.name} cannot be converted in {target.parent}: {error}",
                f"It needs {file.numbers * 4 / 1e9 + 0.1:.1f} GB. Check free space and permissions, or choose another "
                "folder with HEAD_ATLAS_CACHE.",
            ) from error


def _remove_interrupted(parent: Path) -> None:
    """Free the disk of what conversions left behind whose process was killed."""
    for scratch in parent.glob(f"{_SCRATCH}*"):
        with suppress(OSError):  # it ended a moment ago
            written = [path.lstat().st_mtime for path in (scratch, *scratch.rglob("*"))]
            if time.time() - max(written) > _ABANDONED:
                shutil.rmtree(scratch)


def forget(file: GgufFile, cache: Path) -> None:
    """Remove the converted checkpoint."""
    shutil.rmtree(_target(file, cache), ignore_errors=True)


def note(file: GgufFile) -> str:
    """What the card says about the weights."""
    kind = file.quantisation
    digits = re.search(r"\d+", kind)
    bits = f"{digits[0]}-bit weights" if digits else "Weights"
    how = "read as" if kind in ("F32", "F16", "BF16") else "dequantised to"
    scaled = "; its rope scaling is not read, so it cannot be run" if gguf_rope.scaling(file) is None else ""
    return f"{bits} (GGUF {kind}), {how} float32{scaled}"


# ---- Which conversion ------------------------------------------------------------------------------------------------


def converted_folder(path: Path, cache: Path) -> Path | None:
    """The checkpoint that a file was converted to before, if it was and did not change; the file is not read.

    A web server asks this about files that it knows nothing of: to read them is left to workers.
    """
    try:
        target = cache / "models" / _record(path, cache).read_text("utf-8")
    except (OSError, ValueError):
        return None
    return target if target.is_dir() else None


def _remember(path: Path, cache: Path, target: Path) -> None:
    """Write down what a file was converted to."""
    with suppress(OSError):  # then nobody knows the folder before the file is opened again
        record = _record(path, cache)
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(target.name, "utf-8")


def _record(path: Path, cache: Path) -> Path:
    """Where it says what a file was converted to; when one of its parts changes, this is another place."""
    digest = hashlib.sha256()
    for name in part_names(path.name):
        status = (path.parent / name).stat()
        digest.update(repr((status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)).encode())
    return cache / RECORDS / digest.hexdigest()[:32]


def _target(file: GgufFile, cache: Path) -> Path:
    return cache / "models" / f"gguf-{_content(file)[:32]}-{_CONVERSION}"


def _content(file: GgufFile) -> str:
    """A name for the content of all parts.

    SHA-256 over every byte, at about a second per gigabyte: a sample could miss an edit, and what was converted before
    would be taken for it. A file that did not change is not read again by the same process.
    """
    digest = hashlib.sha256()
    for path in file.paths:
        status = path.stat()
        digest.update(_digest(path, status.st_size, status.st_mtime_ns, status.st_ino))
    return digest.hexdigest()


@lru_cache(maxsize=256)
def _digest(path: Path, size: int, modified: int, inode: int) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


# ---- What can be converted -------------------------------------------------------------------------------------------


def check(file: GgufFile) -> None:
    """Refuse what cannot be converted before anything is written."""
    if file.architecture not in ARCHITECTURES:
        raise UnknownFamily(
            f"{file.name} is of the architecture {file.architecture[:100]!r}, which is not supported as GGUF",
            f"Supported architectures: {', '.join(ARCHITECTURES)}. Of the other families, use the safetensors.",
        )
    if file.about("expert_count", 0):
        raise UnknownFamily(
            f"{file.name} is a mixture of experts", "Only models with one MLP in each block are supported."
        )
    if not file.metadata.get("tokenizer.ggml.tokens"):
        raise TokenizerMissing(
            f"{file.name} has no tokenizer inside", "Use a file that llama.cpp can run, or the model's safetensors."
        )
    blocks = {tensor.name.split(".")[1] for tensor in file.tensors if tensor.name.startswith("blk.")}
    layers = file.about("block_count")
    if not isinstance(layers, int) or not 0 < layers <= MAX_LAYERS or len(blocks) != layers:
        raise ConfigMismatch(
            f"{file.name} declares {layers} layers but has tensors for {len(blocks)}", "Download it again."
        )
    for tensor in file.tensors:
        _check_kind(tensor.kind, tensor.name)


@lru_cache(maxsize=64)
def _can_dequantise(kind: GGMLQuantizationType) -> bool:
    _, block = GGML_QUANT_SIZES[kind]
    try:
        dequantize(np.zeros((1, block), np.uint8), kind)
    except NotImplementedError:
        return False
    return True


def _check_kind(kind: GGMLQuantizationType, name: str) -> None:
    if not _can_dequantise(kind):
        raise UnsupportedDtype(
            f"{name} is stored as {kind.name}, which cannot be dequantised",
            "Use a file of another kind, such as Q4_K_M, Q8_0 or F16.",
        )


# ---- Writing ---------------------------------------------------------------------------------------------------------


def _write_checkpoint(file: GgufFile, scratch: Path, made: Path, bos: bool, progress: Callable[[int], None]) -> None:
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    alone = scratch / "alone"  # beside other files the loader would read their config and tokenizer
    alone.mkdir()
    for path in file.paths:
        (alone / path.name).symlink_to(path.absolute())
    model = _empty_model(file, alone)
    _write_weights(file, model, made / "model.safetensors", progress)
    model.config.save_pretrained(made)
    _write_tokenizer(file, alone, made)
    if bos:
        _write_bos(file, made / "tokenizer_config.json")


@contextmanager
def _named(problem: type[ModelError], message: str, hint: str) -> Iterator[None]:
    """A loader that stumbles over what a file says raises bare exceptions of any kind; give them one name.

    The loader also shows a progress bar that cannot be switched off, on standard error.
    """
    try:
        with redirect_stderr(io.StringIO()):
            yield
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk; those of the loader have no number
        raise problem(message, hint) from error


def _empty_model(file: GgufFile, alone: Path) -> Any:
    """The model as transformers builds it, without memory for its weights: their names, shapes and the config."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    with _named(ConfigMismatch, f"{file.name} does not describe a {file.architecture} model", "Download it again."):
        config = AutoConfig.from_pretrained(alone, gguf_file=file.name, trust_remote_code=False)
        for key, value in _overlooked(file).items():
            setattr(config, key, value)
        if file.architecture != "gpt2":
            _add_rope(file, config)
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
    model.config.architectures = [type(model).__name__]
    model.config.dtype = "float32"
    return model


def _add_rope(file: GgufFile, config: Any) -> None:
    """What the file says about positions beyond their base, or that it is not known."""
    scaling = gguf_rope.scaling(file)
    if scaling is None:
        setattr(config, UNREAD_ROPE, True)
        return
    rope = config.rope_parameters.get("full_attention", config.rope_parameters)  # only these of Gemma 3
    rope.update(gguf_rope.partial(file) | scaling)
    if file.architecture == "phi3" and "original_max_position_embeddings" in scaling:
        config.original_max_position_embeddings = scaling["original_max_position_embeddings"]


def _overlooked(file: GgufFile) -> Config:
    """Numbers of the config that transformers' loader leaves at its defaults although the file gives them."""
    shapes = {tensor.name: tensor.shape for tensor in file.tensors}
    config: Config = {"tie_word_embeddings": "output.weight" not in shapes}  # it looks into one part only
    if "token_embd.weight" in shapes:
        config["vocab_size"] = shapes["token_embd.weight"][0]
    if file.architecture == "gpt2":
        config["n_positions"] = file.about("context_length")
        config["n_inner"] = file.about("feed_forward_length")
    elif file.about("attention.key_length"):
        config["head_dim"] = file.about("attention.key_length")
    if _GEMMA_27B.get(file.architecture) == file.about("block_count"):
        config["query_pre_attn_scalar"] = file.about("embedding_length") // file.about("attention.head_count")
    return config


def _write_weights(file: GgufFile, model: Any, path: Path, progress: Callable[[int], None]) -> None:
    """All tensors as float32, which holds dequantised values exactly; 16 bits would round them a second time.

    The layout of safetensors: 8 bytes of header length, the header as JSON, the data.
    """
    from transformers.modeling_gguf_pytorch_utils import TENSOR_PROCESSORS, TensorProcessor, get_gguf_hf_weights_map

    processor = TENSOR_PROCESSORS.get(file.architecture, TensorProcessor)(config=model.config.to_dict())
    names = get_gguf_hf_weights_map(model, processor, file.architecture)
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    tensors = _in_order(file, names, shapes)
    header: dict[str, dict[str, object]] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name in tensors:
        start, end = end, end + 4 * int(np.prod(shapes[name]))
        header[name] = {"dtype": "F32", "shape": shapes[name], "data_offsets": [start, end]}
    content = json.dumps(header).encode()
    content += b" " * (-len(content) % 8)  # the data begin at a multiple of 8
    with path.open("wb") as stream:
        stream.write(len(content).to_bytes(8, "little") + content)
        for done, (name, tensor) in enumerate(tensors.items(), start=1):
            stream.write(_dequantised(tensor, processor, shapes[name]).data)
            progress(done)


def _in_order(file: GgufFile, names: dict[str, str], shapes: dict[str, tuple[int, ...]]) -> dict[str, GgufTensor]:
    """The file's tensors by the names of transformers; refuses a file that lacks one or has one too many."""
    tensors = {}
    for tensor in file.tensors:
        if tensor.name in names:
            tensors[names[tensor.name]] = tensor
        elif not _is_unread(file, tensor):
            raise UnknownFamily(
                f"{file.name} has the tensor {tensor.name}, which transformers has in no {file.architecture} model",
                "It is a variant of the architecture that is not supported as GGUF.",
            )
    for name in shapes:
        if name not in tensors and name != "lm_head.weight":  # without one of its own it is tied to the embedding
            raise MissingTensor(f"{file.name} has no tensor for {name}", "Is the file complete? Download it again.")
    return tensors


def _is_unread(file: GgufFile, tensor: GgufTensor) -> bool:
    """Whether a tensor is no weight of the language model."""
    is_vision = file.architecture == "gemma3" and _VISION.match(tensor.name) is not None
    return is_vision or _UNREAD.match(tensor.name) is not None


def _dequantised(tensor: GgufTensor, processor: Any, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """The numbers of a tensor in the order in which transformers keeps them."""
    parsed: dict[str, dict[str, object]] = {"tensors": {}}
    try:
        content = np.memmap(tensor.file, np.uint8, "r", tensor.start, (tensor.stop - tensor.start,))
        weights = dequantize(content.reshape(*tensor.shape[:-1], -1), tensor.kind)
        result = processor.process(weights=weights, name=tensor.name, parsed_parameters=parsed)
    except ValueError:  # it is empty, or cannot be cut into heads
        result = None
    if result is None or result.weights.shape != shape:
        stored = " × ".join(str(n) for n in tensor.shape)
        raise ConfigMismatch(
            f"{tensor.name} of {tensor.file.name} is {stored}, which is not what its metadata says",
            "They belong to different models; download the file again.",
        )
    return np.ascontiguousarray(result.weights, np.float32)


def _write_tokenizer(file: GgufFile, alone: Path, made: Path) -> None:
    from transformers import AutoTokenizer

    model = str(file.metadata.get("tokenizer.ggml.model"))
    with _named(
        TokenizerMissing,
        f"the tokenizer of {file.name} (of the kind {model[:100]!r}) cannot be read",
        "Use the model's safetensors with their tokenizer.json.",
    ):
        tokenizer = AutoTokenizer.from_pretrained(alone, gguf_file=file.name, trust_remote_code=False)
    try:
        tokenizer.save_pretrained(made)
    except Exception as error:  # a bare one also for a full disk
        raise OSError(str(error)) from error


def _write_bos(file: GgufFile, path: Path) -> None:
    """Whether a text begins with BOS: the file says it, and the converted tokenizer forgets it."""
    tokens, number = file.metadata["tokenizer.ggml.tokens"], file.metadata.get("tokenizer.ggml.bos_token_id")
    config = json.loads(path.read_text("utf-8"))
    if isinstance(number, int) and 0 <= number < len(tokens):
        config["bos_token"] = tokens[number]
        config["add_bos_token"] = _adds_bos(file)
    elif file.metadata.get("tokenizer.ggml.add_bos_token") is False:
        config["add_bos_token"] = False
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


def _adds_bos(file: GgufFile) -> bool:
    """What the file says, else what llama.cpp does: add it for sentencepiece and Llama 3 vocabularies."""
    said = file.metadata.get("tokenizer.ggml.add_bos_token")
    if isinstance(said, bool):
        return said
    sentencepiece = file.metadata.get("tokenizer.ggml.model") == "llama"
    return sentencepiece or file.metadata.get("tokenizer.ggml.pre") in _LLAMA_3
