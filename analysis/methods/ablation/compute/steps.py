"""The steps of ablation: what a worker, or the command line's own process, computes at a time."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from analysis.compute.ablation import AblatedModel
from analysis.compute.readout import Predicted
from analysis.compute.untouched_run import UntouchedRun
from analysis.compute.variants import Positions
from analysis.compute.weights import memory_of, open_device
from analysis.data.prompts import Batch, Encoded, within
from analysis.methods.ablation.items import AblationItem, EncodedPrompts
from analysis.methods.ablation.plan import CHUNK, CurveStep, HeadsStep
from analysis.methods.ablation.result import NAME, VariantAnswers
from analysis.models.checkpoint import Checkpoint
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import Vocabulary
from analysis.results.scores import Floats

AT_ONCE = 4_096  # tokens of untouched prompts at once


def prompts_of(model: OpenModel, item: AblationItem, most: int) -> EncodedPrompts:
    """An item's prompts as the model reads them."""
    vocabulary = Vocabulary.open(model.checkpoint.folder)
    return item.prompts(vocabulary, model.checkpoint.card.vocabulary, most)


def worker(model: OpenModel) -> "AblationWorker":
    """The one that is open, or a new one."""
    opened = model.keep(NAME, lambda: AblationWorker(model.checkpoint, model.device))
    model.device_name = opened.model.device_name
    return opened


class AblationWorker:
    """A model kept open, with the prompts and the heads' mean outputs of the item that it works on."""

    def __init__(self, checkpoint: Checkpoint, device: str = "auto") -> None:
        self._vocabulary = Vocabulary.open(checkpoint.folder)
        chosen = open_device(device)
        with memory_of(chosen):
            self.model = AblatedModel(checkpoint, chosen)
        self._prompts: dict[tuple[str, int], tuple[Encoded, ...]] = {}  # of the last item
        self._means: dict[tuple[str, int], Tensor] = {}

    def heads_off(self, step: HeadsStep) -> VariantAnswers:
        """Some prompts with each head off in turn."""
        with memory_of(self.model.device), torch.no_grad():
            prompts = self._of(step.item, step.most)
            instead = self.model.nothing() if step.instead == "zero" else self._mean(step.item, step.most)
            run = self.model.untouched(Batch.of(prompts[step.start : step.start + CHUNK]))
            positions: Positions = "all" if step.positions == "all" else "last"
            return answers(run, self.model.each_head(run, instead, positions))

    def more_and_more_off(self, step: CurveStep) -> VariantAnswers:
        """All prompts with the first head off, with the first two, and so on."""
        card = self.model.card
        off = torch.zeros(len(step.heads), len(card.layers), card.heads, dtype=torch.bool)
        for at, head in enumerate(step.heads):
            off[at:, card.layers.index(head.layer), head.head] = True
        parts = []
        with memory_of(self.model.device), torch.no_grad():
            for batch in within(self._of(step.item, step.most), CHUNK * 64):
                run = self.model.untouched(batch)
                parts.append(answers(run, self.model.ablated(run, off, self.model.nothing(), "last")))
        return joined(parts)

    def _of(self, item: AblationItem, most: int) -> tuple[Encoded, ...]:
        if (item.hash, most) not in self._prompts:
            prompts = item.prompts(self._vocabulary, self.model.card.vocabulary, most)
            self._prompts = {(item.hash, most): prompts.encoded}
        return self._prompts[item.hash, most]

    def _mean(self, item: AblationItem, most: int) -> Tensor:
        if (item.hash, most) not in self._means:
            mean = self.model.head_means(within(self._of(item, most), AT_ONCE))
            self._means = {(item.hash, most): mean}
        return self._means[item.hash, most]


def answers(run: UntouchedRun, predicted: Predicted) -> VariantAnswers:
    """By prompt: the log-probability of its whole target, and whether all of it is right."""
    prompts = len(run.batch.ids)
    return VariantAnswers(
        log_probs=_summed(predicted.log_probs, run.batch.rows, prompts),
        right=(_summed(~predicted.right, run.batch.rows, prompts) == 0).astype(np.float64),
        own_log_probs=_summed(run.predicted.log_probs, run.batch.rows, prompts)[:, 0],
        own_right=(_summed(~run.predicted.right, run.batch.rows, prompts)[:, 0] == 0).astype(np.float64),
    )


def joined(parts: Sequence[VariantAnswers]) -> VariantAnswers:
    """Those of several batches."""
    fields = VariantAnswers.__dataclass_fields__
    return VariantAnswers(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields})


def _summed(values: Tensor, rows: np.ndarray, prompts: int) -> Floats:  # [V, n] → [P, V]
    """Sums over each prompt's target tokens."""
    total = torch.zeros(prompts, len(values), dtype=torch.float64)
    total.index_add_(0, torch.as_tensor(rows), values.T.cpu().double())
    return total.numpy()
