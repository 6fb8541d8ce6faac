"""Parquet files are read without threads that a process could be ended with."""

import subprocess
import sys
from pathlib import Path

import pytest

_READ = """
import os
from analysis.methods.salience.tokens import layer_bytes, layer_table, read_layer
from analysis.relations import pairs_file
from analysis.evidence.shipped import shipped_scores

def threads():
    return len(os.listdir("/proc/self/task"))

before = threads()
assert shipped_scores("running").samples
key = next(iter(pairs_file._shipped_keys()))
assert pairs_file.shipped_pairs(key).pairs
assert read_layer(layer_bytes(layer_table([[], []]))).num_rows
print(before, threads())
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux lists them")
def test_reading_results_starts_no_threads():
    """A process that ends while Arrow's threads are at work is aborted, though it has printed its answer."""
    done = subprocess.run([sys.executable, "-c", _READ], capture_output=True, text=True, check=True)
    before, after = done.stdout.split()
    assert before == after
