"""`make bench`: ratios measured in one run on this machine."""

import tempfile
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
    running_speed,
    viewers,
)
from tests.browser.harness import find_browser

if __name__ == "__main__":
    torch.set_grad_enabled(False)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads\n\nFunction map, all heads and relations\n")
    with tempfile.TemporaryDirectory() as scratch:
        print(function_map_speed.table(default_model.folder(cache_folder()), Path(scratch)))
    print("\nFunction map in the running model\n")
    print(running_speed.table(default_model.folder(cache_folder())))
    print("\nFitting gates\n")
    print(gates_speed.table(default_model.folder(cache_folder())))
    print("\nEvery head switched off in turn\n")
    print(ablation_speed.table(default_model.folder(cache_folder())))
    print("\nThe page, in a real browser\n")
    with tempfile.TemporaryDirectory() as scratch:
        print(browser_speed.table(Path(scratch)) if find_browser() else "no Chrome or Chromium: not measured")
    print("\nMany viewers\n")
    with tempfile.TemporaryDirectory() as scratch:
        print(viewers.table(Path(scratch)))
    print("\nA crowd\n")
    with tempfile.TemporaryDirectory() as scratch:
        print(crowd.table(Path(scratch)))
