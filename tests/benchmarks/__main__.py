"""`make bench`: ratios measured in one run on this machine; `make bench PARTS="page crowd"` measures some of them."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from analysis.models import builtin as default_model
from analysis.results.store import cache_folder
from tests.benchmarks import (
    ablation_speed,
    browser_speed,
    crowd,
    function_map_speed,
    gates_speed,
    pairs_speed,
    prompt_speed,
    running_speed,
    viewers,
)
from tests.browser.harness import find_browser

Part = Callable[[Path, Path], str]  # the default model's folder, a scratch folder → the table


def page(model: Path, scratch: Path) -> str:
    """The page, where there is a browser."""
    return browser_speed.table(scratch) if find_browser() else "no Chrome or Chromium: not measured"


PARTS: dict[str, tuple[str, Part]] = {
    "function": ("Function map, all heads and relations", function_map_speed.table),
    "running": ("Function map in the running model", lambda model, _: running_speed.table(model)),
    "pairs": ("The pairs behind a score", lambda model, _: pairs_speed.table(model)),
    "gates": ("Fitting gates", lambda model, _: gates_speed.table(model)),
    "ablation": ("Every head switched off in turn", lambda model, _: ablation_speed.table(model)),
    "prompt": ("A prompt of one's own, every head switched off in turn", lambda model, _: prompt_speed.table(model)),
    "page": ("The page, in a real browser", page),
    "viewers": ("Many viewers", lambda _, scratch: viewers.table(scratch)),
    "crowd": ("A crowd", lambda _, scratch: crowd.table(scratch)),
}


def main(names: list[str]) -> None:
    """Print the tables of the named parts, or of all."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]!r}; choose from {', '.join(PARTS)}")
    torch.set_grad_enabled(False)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    model = default_model.folder(cache_folder())
    for name in names or PARTS:
        title, table = PARTS[name]
        with tempfile.TemporaryDirectory() as scratch:
            print(f"\n{title}\n\n{table(model, Path(scratch))}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
