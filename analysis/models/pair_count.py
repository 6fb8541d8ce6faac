"""How many pairs of a relation a model's tokenizer keeps, counted in a process of its own.

A tokenizer is somebody else's program: one of a few lines can take for ever, or all memory, on a single word. The web
server, which wants to know before it takes a job, must outlive that.
"""

import json
import logging
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from analysis.data.relations import Relation

SECONDS = 10  # of the processor
CLOCK = 30.0  # seconds, for a machine that has much else to do
BYTES = 4 * 2**30  # of memory
_PATIENCE = 5.0  # seconds for another count to end
_KEPT = 32  # answers: every method that takes relations asks
_one_at_a_time = threading.Lock()
_answers: dict[Hashable, int | None] = {}
_log = logging.getLogger(__name__)


def kept_pairs(folder: Path, relation: Relation, several: bool) -> int | None:
    """Pairs of single tokens, or with sources of several; nothing when that cannot be told soon."""
    try:
        status = (folder / "tokenizer.json").stat()
    except OSError:
        return None
    if not _one_at_a_time.acquire(timeout=_PATIENCE):
        return None
    try:
        question = (folder, status.st_mtime_ns, status.st_size, relation.hash, several)  # not the pairs: they are many
        if question not in _answers:
            while len(_answers) >= _KEPT:
                del _answers[next(iter(_answers))]
            _answers[question] = _counted(folder, relation, several)
        return _answers[question]
    finally:
        _one_at_a_time.release()


def _counted(folder: Path, relation: Relation, several: bool) -> int | None:
    question = json.dumps({"folder": str(folder), "pairs": relation.pairs, "several": several})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, "-m", __spec__.name]
    try:
        done = subprocess.run(  # noqa: S603  # this very module
            command, input=question.encode(), env=environment, capture_output=True, timeout=CLOCK, check=True
        )
        return int(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        _log.warning("the tokenizer in %s could not be asked: %s", folder, error)
        return None


def _main(question: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from analysis.models.vocabulary import Vocabulary

    vocabulary = Vocabulary.open(Path(question["folder"]))
    keep = vocabulary.keep_several if question["several"] else vocabulary.keep
    pairs = tuple((source, target) for source, target in question["pairs"])
    kept = keep(Relation("", "custom", "", "", "standard", "", pairs))
    sys.stdout.write(str(len(kept)))


if __name__ == "__main__":
    _main(json.load(sys.stdin))
