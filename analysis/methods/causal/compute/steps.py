"""The work behind a causal map, one step at a time: what a worker, or the command line's own process, computes."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from analysis.compute.gated_model import GatedModel
from analysis.compute.weights import memory_of, open_device
from analysis.data.prompts import Encoded, encode, within
from analysis.data.tasks import Contrast, Item, Task
from analysis.errors import TaskError
from analysis.methods.causal.compute.fitting import advance, advance_contrast, untouched
from analysis.methods.causal.fits import Fit
from analysis.methods.causal.plan import CHANCE, CHUNK, Step
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import Vocabulary

PREVIEW_PROMPTS = 64
EFFECT_PROMPTS = 32
AT_ONCE = 16_384  # tokens that go through the model at once where no batch is chosen
_UNUSABLE = "Prompt and target must not share a token: begin the target with a space."


class CausalWorker:
    """A model kept open, and the tasks as it reads them."""

    def __init__(self, checkpoint: Checkpoint, device: str = "auto") -> None:
        self._vocabulary = Vocabulary.open(checkpoint.folder)
        with memory_of(chosen := open_device(device)):
            self.model = GatedModel(checkpoint, chosen)
        self._encoded: dict[str, tuple[list[Encoded | None], list[Encoded | None]]] = {}

    def do(self, step: Step) -> bytes:
        """The step's result, as it is kept."""
        work = {"untouched": self._untouched, "preview": self._preview, "fit": self._fit, "effect": self._effect}
        with memory_of(self.model.device), torch.no_grad():
            if isinstance(step.task, Contrast):
                return self._contrast(step, step.task)
            return work[step.what](step, step.task)

    def _items(self, task: Task) -> tuple[list[Encoded | None], list[Encoded | None]]:
        """The task's prompts for training and validation as tokens."""
        if task.hash not in self._encoded:
            train, validation = self._encode(task.train), self._encode(task.validation)
            if not any(train) or not any(validation):
                raise TaskError(f"no prompt of {task.name} can be used with this model", _UNUSABLE)
            self._encoded = {task.hash: (train, validation)}
        return self._encoded[task.hash]

    def _encode(self, items: Sequence[Item]) -> list[Encoded | None]:
        return encode(items, self._vocabulary, self.model.card.vocabulary)

    def _fit(self, step: Step, task: Task) -> bytes:
        card = self.model.card
        fit = Fit.from_bytes(step.content) if step.content else Fit.begin(step.seeds, len(card.layers), card.heads)
        train = [item for item in self._items(task)[0] if item]
        return advance(self.model, train, step.settings, fit, CHUNK).to_bytes()

    def _contrast(self, step: Step, contrast: Contrast) -> bytes:
        card = self.model.card
        fit = Fit.from_bytes(step.content) if step.content else Fit.begin(step.seeds, len(card.layers), card.heads)
        sides = zip(self._encode(contrast.forget), self._encode(contrast.retain), strict=True)
        pairs = []
        for number, (forget, retain) in enumerate(sides, start=1):
            if forget is None or retain is None:
                raise TaskError(f"pair {number} of {contrast.name} cannot be used with this model", _UNUSABLE)
            pairs.append((forget, retain))
        return advance_contrast(self.model, pairs, step.settings, fit, CHUNK).to_bytes()

    def _untouched(self, step: Step, task: Task) -> bytes:
        """How well the model does the task, in all and for each kind."""
        train, validation = self._items(task)
        kept = [(item.kind, tokens) for item, tokens in zip(task.validation, validation, strict=True) if tokens]
        nll, right = untouched(self.model, [tokens for _, tokens in kept], AT_ONCE)
        by_kind: dict[str, list[int]] = defaultdict(list)
        for at, (kind, _) in enumerate(kept):
            by_kind[kind].append(at)
        targets = [tokens.targets for _, tokens in kept]
        kinds = [{"kind": kind, **_summary(nll, right, targets, at)} for kind, at in by_kind.items()]
        whole = _summary(nll, right, targets, range(len(kept)))
        usable = [tokens for tokens in train if tokens]
        answers = Counter(tokens.ids[-tokens.targets :] for tokens in (*usable, *(tokens for _, tokens in kept)))
        guess = max(answers.values()) / answers.total()
        flagged = whole["accuracy"] < min(guess + CHANCE, 1 - CHANCE)  # hardly better than always saying the same
        return _json({**whole, "kinds": kinds, "kept": len(usable), "flagged": flagged})

    def _preview(self, step: Step, task: Task) -> bytes:
        """The gradient of each prompt's loss by every gate, all gates being 1; facilitating where it is negative."""
        prompts = [item for item in self._items(task)[1] if item][:PREVIEW_PROMPTS]
        gradient = gate_gradients(self.model, prompts)
        summary = {"mean": gradient.mean(0), "least": gradient.min(0), "most": gradient.max(0)}
        summary["share"] = (gradient < 0).mean(0)
        return _json({"prompts": len(prompts), **{name: np.round(part, 6).tolist() for name, part in summary.items()}})

    def _effect(self, step: Step, task: Task) -> bytes:
        """For each head of a layer: how the targets' log-probability changes when its gate goes from 1 to 0."""
        prompts = [item for item in self._items(task)[1] if item][:EFFECT_PROMPTS]
        ((_, gates),) = Fit.from_bytes(step.content).gates()
        return _json(np.round(toggled(self.model, prompts, gates.open, step.layer), 6).tolist())


def gate_gradients(model: GatedModel, prompts: Sequence[Encoded]) -> Any:  # [prompt, L, H]
    """∂ (mean NLL of its target) / ∂ gate at gates of 1, for every prompt: one backward pass."""
    parts = []
    for batch in within(prompts, AT_ONCE):
        with torch.enable_grad():
            gates = torch.ones(len(batch.ids), len(model.card.layers), model.card.heads, device=model.device)
            gates.requires_grad_()
            rows = torch.as_tensor(batch.rows, device=model.device)
            each = torch.bincount(rows).to(torch.float32)
            nll = -(model.own_log_probs(batch, gates) / each[rows]).sum()
            parts.append(torch.autograd.grad(nll, gates)[0].cpu().numpy())
    return np.concatenate(parts)


def toggled(model: GatedModel, prompts: Sequence[Encoded], gates: Any, layer: int) -> Any:  # gates [L, H] → [H]
    """The change of the mean log-probability of the target tokens when one head of a layer goes from 1 to 0."""
    heads, at = model.card.heads, model.card.layers.index(layer)
    variants = torch.tensor(gates, dtype=torch.float32, device=model.device).repeat(2 * heads, 1, 1)
    for head in range(heads):
        variants[head, at, head], variants[heads + head, at, head] = 1, 0
    found = torch.cat([model.log_probs(batch, variants) for batch in within(prompts, AT_ONCE // (2 * heads))], 1).mean(
        1
    )
    return (found[heads:] - found[:heads]).cpu().numpy().astype(float)


def _summary(nll: Sequence[float], right: Sequence[bool], targets: Sequence[int], at: Sequence[int]) -> dict[str, Any]:
    """The share of items that are wholly right, and the mean NLL of their target tokens: what a fit minimises."""
    accuracy = np.mean([right[i] for i in at])
    mean = np.average([nll[i] for i in at], weights=[targets[i] for i in at])
    return {"items": len(at), "accuracy": round(float(accuracy), 4), "nll": round(float(mean), 4)}


def _json(content: Any) -> bytes:
    return json.dumps(content).encode()
