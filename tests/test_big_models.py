"""Big checkpoints on a small machine: what the static methods hold in memory."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests import big_models

PAIRS = "\n".join(f"w{i},w{(i * 37) % 20_000}" for i in range(2_000))


def peak_gb(code, **environment):
    """The peak resident memory of a Python process that runs the code, as the kernel counts it."""
    script = f"{code}\nimport resource, sys; sys.stdout.flush()\n"
    script += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return int(result.stderr.split()[-1]) / 1e6, result.stdout


def score(folder, tmp_path, *options, command="map"):
    relation = tmp_path / "pairs.csv"
    relation.write_text(PAIRS)
    arguments = [command, str(folder), "--relations", str(relation), "--device", "cpu", "--json", *options]
    code = f"from analysis.cli import main; assert main({arguments!r}) == 0"
    peak, out = peak_gb(code, HEAD_ATLAS_CACHE=str(tmp_path / "cache"))
    return peak, json.loads(out)


@pytest.fixture
def room(tmp_path):
    """A folder for gigabytes, emptied at once: pytest keeps its own folders for several runs."""
    if shutil.disk_usage(tmp_path).free < 15e9:
        pytest.skip("needs 15 GB of free disk")
    yield tmp_path
    shutil.rmtree(tmp_path)


@pytest.mark.slow
def test_a_3b_model_is_scored_in_a_third_of_the_memory_of_loading_it(room):
    """A sharded Llama-3.2-3B-shaped bfloat16 checkpoint, both maps, against loading it with transformers."""
    # transformers maps the files and reads them when they are used, so one token is run through the loaded model
    folder = big_models.write(room / "llama-3b", big_models.LLAMA_3B, lambda name: True)
    ours, data = score(folder, room)
    loading = (
        "import torch, transformers\n"
        f"model = transformers.AutoModelForCausalLM.from_pretrained({str(folder)!r}, dtype=torch.bfloat16)\n"
        "model(torch.tensor([[1]]))"
    )
    theirs, _ = peak_gb(loading)
    print(f"\n3B: ours {ours:.2f} GB in {data['seconds']:.0f} s, loaded with transformers {theirs:.2f} GB")
    assert len(data["model"]["layers"]) == 28
    assert ours <= theirs / 3
    running, data = score(folder, room, "--carriers", "w1 w2 w3", command="running")
    print(f"3B, running: {running:.2f} GB in {data['seconds']:.0f} s for one carrier")
    assert running <= theirs / 3


@pytest.mark.slow
def test_two_layers_of_a_70b_model_within_12_gb(room):
    """80 layers of a 70B shape, of which two hold numbers and the rest are holes in sparse files."""
    read = ("model.embed", "lm_head", "model.norm", "model.layers.0.", "model.layers.1.")
    folder = big_models.write(room / "llama-70b", big_models.LLAMA_70B, lambda name: name.startswith(read))
    peak, data = score(folder, room, "--layers", "0-1")
    print(f"\n70B: {peak:.2f} GB in {data['seconds']:.0f} s for two of 80 layers")
    assert (len(data["model"]["layers"]), data["model"]["heads"]) == (80, 64)
    assert peak <= 12
