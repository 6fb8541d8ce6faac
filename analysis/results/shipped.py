"""The results that come with the project, so that its model has a map before anything is computed."""

import gzip
import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from analysis.results.scores import Scores

_CAUSAL = ".causal.parquet"


@cache
def shipped() -> tuple[Scores, ...]:
    """Function maps made by `python -m analysis map MODEL --out analysis/data/results/MODEL.parquet`."""
    return _results(lambda name: name.endswith(".parquet") and not name.endswith(_CAUSAL))


@cache
def shipped_causal() -> tuple[Scores, ...]:
    """Causal maps made by `python -m analysis gates MODEL --out analysis/data/results/MODEL.causal.parquet`."""
    return _results(lambda name: name.endswith(_CAUSAL))


@cache
def shipped_sizes() -> tuple[tuple[Scores, int], ...]:
    """All of them with the bytes that their scores take."""
    return tuple((scores, len(scores.to_parquet())) for scores in (*shipped(), *shipped_causal()))


def _results(wanted: Callable[[str], bool]) -> tuple[Scores, ...]:
    folder = files("analysis") / "data" / "results"
    found = sorted((file for file in folder.iterdir() if wanted(file.name)), key=lambda file: file.name)
    return tuple(Scores.from_parquet(file.read_bytes()) for file in found)


@cache
def shipped_salience() -> dict[str, dict[str, Any]]:
    """By fingerprint; made by `python -m analysis salience MODEL --out analysis/data/results/MODEL.salience.json.gz`.

    Layers are named by their number as text.
    """
    folder = files("analysis") / "data" / "results"
    found = (file.read_bytes() for file in folder.iterdir() if file.name.endswith(".salience.json.gz"))
    contents = [json.loads(gzip.decompress(content)) for content in found]
    return {content["model"]["fingerprint"]: content["layers"] for content in contents}
