"""How long a prompt of one's own takes with every head switched off in turn, by tokens, at the last one and at all."""

import time
from pathlib import Path

import torch

from analysis.models.checkpoint import Checkpoint
from analysis.prompt.compute.ablation import each_head_off
from analysis.prompt.compute.model import PromptModel

TOKENS = (10, 25, 50)


def seconds(reader: PromptModel, ids: list[int], positions: str) -> float:
    """Of the processor where there is one thread (OMP_NUM_THREADS=1), which a busy machine shares."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    start = clock()
    each_head_off(reader, ids, 5, "all" if positions == "all" else "last", "zero")
    return clock() - start


def table(folder: Path) -> str:
    """One row for each way, on random tokens of the default model."""
    reader = PromptModel(Checkpoint.open(folder), torch.device("cpu"))
    draw = torch.Generator().manual_seed(0)
    ids = torch.randint(100, reader.checkpoint.card.vocabulary, (max(TOKENS),), generator=draw).tolist()
    each_head_off(reader, ids[:2], 5, "last", "zero")  # the first run is slower
    lines = [
        f"| every head off at | {' | '.join(f'{count} tokens' for count in TOKENS)} |",
        f"|---|{'---|' * len(TOKENS)}",
    ]
    for positions in ("last", "all"):
        cells = [f"{seconds(reader, ids[:count], positions):.1f} s" for count in TOKENS]
        lines.append(f"| {positions} | {' | '.join(cells)} |")
    return "\n".join(lines)
