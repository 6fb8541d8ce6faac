"""Every head switched off in turn: something else stands in the place of its output, before the output projection."""

from collections.abc import Sequence

import torch
from torch import Tensor

from analysis.compute.variants import Positions
from analysis.data.prompts import Batch, Encoded
from analysis.prompt.compute.model import PromptModel


def each_head_off(
    model: PromptModel, ids: Sequence[int], token: int, positions: Positions, instead: str = "zero"
) -> Tensor:  # [L, H]
    """How the log-probability of a token after the prompt changes without each head, everywhere or at the last token.

    In its place stands zero, or the head's mean output over the tokens of the prompt.
    """
    card, ablated = model.checkpoint.card, model.ablated
    batch = Batch.of([Encoded((*ids, token), 1)])
    with torch.no_grad():
        run = ablated.untouched(batch)
        place = ablated.nothing() if instead == "zero" else ablated.head_means([batch])
        without = ablated.each_head(run, place, positions)
        change = without.log_probs - run.predicted.log_probs
    return change.view(len(card.layers), card.heads)
