"""The steps of a causal map: what a worker, or the command line's own process, computes at a time."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.compute.gated_model import GatedModel
from analysis.compute.weights import memory_of, open_device
from analysis.data.prompts import Encoded, encode, within
from analysis.data.tasks import Contrast, Task, TaskPrompt
from analysis.errors import TaskError
from analysis.methods.causal.compute.fitting import advance, advance_contrast, untouched
from analysis.methods.causal.fits import Fit, GateArray
from analysis.methods.causal.plan import CHUNK, EFFECT_PROMPTS, PREVIEW_PROMPTS, GateStep
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import Vocabulary
from analysis.results.provenance import JsonObject

CHANCE = 0.05  # a task at which the untouched model is hardly better than one answer to all is flagged
AT_ONCE = 16_384  # tokens that go through the model at once where no batch is chosen
_UNUSABLE = "Prompt and target must not share a token: begin the target with a space."


class CausalWorker:
    """A model kept open, with the prompts of the task that it works on."""

    def __init__(self, checkpoint: Checkpoint, device: str = "auto") -> None:
        self._vocabulary = Vocabulary.open(checkpoint.folder)
        chosen = open_device(device)
        with memory_of(chosen):
            self.model = GatedModel(checkpoint, chosen)
        self._encoded: dict[str, _SplitPrompts] = {}  # of the last task, by its hash

    def do(self, step: GateStep) -> bytes:
        """The step's result in the form in which it is stored."""
        with memory_of(self.model.device), torch.no_grad():
            if isinstance(step.task, Contrast):
                return self._contrast(step, step.task)
            match step.what:
                case "untouched":
                    return _json(self._untouched(step.task))
                case "preview":
                    return _json(self._preview(step.task))
                case "fit":
                    return self._fit(step, step.task)
                case "effect":
                    return _json(self._effect(step, step.task))
        raise ValueError(f"a causal map has no step {step.what}")

    def _prompts(self, task: Task) -> "_SplitPrompts":
        """The task's prompts as tokens, encoded once."""
        if task.hash not in self._encoded:
            prompts = _SplitPrompts(self._encode(task.train), self._encode(task.validation))
            if not _usable(prompts.train) or not _usable(prompts.validation):
                raise TaskError(f"no prompt of {task.name} can be used with this model", _UNUSABLE)
            self._encoded = {task.hash: prompts}
        return self._encoded[task.hash]

    def _encode(self, items: Sequence[TaskPrompt]) -> list[Encoded | None]:
        return encode(items, self._vocabulary, self.model.card.vocabulary)

    def _fit(self, step: GateStep, task: Task) -> bytes:
        """The fit of some seeds a few updates further."""
        train = _usable(self._prompts(task).train)
        return advance(self.model, train, step.settings, self._resumed_fit(step), CHUNK).to_bytes()

    def _contrast(self, step: GateStep, contrast: Contrast) -> bytes:
        """The contrastive fit a few updates further."""
        pairs = []
        sides = zip(self._encode(contrast.forget), self._encode(contrast.retain), strict=True)
        for number, (forget, retain) in enumerate(sides, start=1):
            if forget is None or retain is None:
                raise TaskError(f"pair {number} of {contrast.name} cannot be used with this model", _UNUSABLE)
            pairs.append((forget, retain))
        return advance_contrast(self.model, pairs, step.settings, self._resumed_fit(step), CHUNK).to_bytes()

    def _resumed_fit(self, step: GateStep) -> Fit:
        if step.content:
            return Fit.from_bytes(step.content)
        card = self.model.card
        return Fit.begin(step.seeds, len(card.layers), card.heads)

    def _untouched(self, task: Task) -> JsonObject:
        """How well the model does the task with all gates open, overall and for each kind of item."""
        prompts = self._prompts(task)
        items: list[TaskPrompt] = []
        validation: list[Encoded] = []
        for item, tokens in zip(task.validation, prompts.validation, strict=True):
            if tokens is not None:
                items.append(item)
                validation.append(tokens)
        kinds = [item.kind for item in items]
        nll, right = untouched(self.model, validation, AT_ONCE)
        answers = _UntouchedAnswers(nll, right, [tokens.targets for tokens in validation])
        overall = answers.summary(range(len(validation)))
        by_kind = []
        for kind in dict.fromkeys(kinds):  # each once, in order
            of_kind = [index for index, other in enumerate(kinds) if other == kind]
            by_kind.append({"kind": kind, **asdict(answers.summary(of_kind))})
        train = _usable(prompts.train)
        chance = _commonest_answer([*train, *validation])
        flagged = overall.accuracy < min(chance + CHANCE, 1 - CHANCE)  # hardly better than always the same answer
        example = next((item for item, is_right in zip(items, right, strict=True) if is_right), None)
        answered = {"prompt": example.prompt, "answer": example.target} if example is not None else None
        facts = {"kinds": by_kind, "kept": len(train), "flagged": flagged, "example": answered}
        return {**asdict(overall), **facts}

    def _preview(self, task: Task) -> JsonObject:
        """The gradient of each prompt's loss by every gate, all gates being 1; facilitating where it is negative."""
        prompts = _usable(self._prompts(task).validation)[:PREVIEW_PROMPTS]
        gradient = gate_gradients(self.model, prompts)  # [prompt, L, H]
        return {
            "prompts": len(prompts),
            "mean": _rounded(gradient.mean(0)),
            "least": _rounded(gradient.min(0)),
            "most": _rounded(gradient.max(0)),
            "share": _rounded((gradient < 0).mean(0)),
        }

    def _effect(self, step: GateStep, task: Task) -> list[float]:  # [H]
        """For each head of a layer: how the targets' log-probability changes when its gate goes from 1 to 0."""
        prompts = _usable(self._prompts(task).validation)[:EFFECT_PROMPTS]
        ((_, gates),) = Fit.from_bytes(step.content).gates()
        change: list[float] = _rounded(toggled(self.model, prompts, gates.open, step.layer))
        return change


@dataclass(frozen=True)
class _SplitPrompts:
    """A task's prompts as tokens, in the order of its items; None where an item cannot be used."""

    train: list[Encoded | None]
    validation: list[Encoded | None]


def _usable(prompts: Sequence[Encoded | None]) -> list[Encoded]:
    return [prompt for prompt in prompts if prompt is not None]


@dataclass(frozen=True)
class _Summary:
    """How well some items are answered. Its fields are keys of the stored JSON."""

    items: int
    accuracy: float
    nll: float


@dataclass(frozen=True)
class _UntouchedAnswers:
    """What the untouched model does on each item."""

    nll: list[float]  # mean over the item's target tokens
    right: list[bool]  # whether all of them are predicted
    targets: list[int]  # how many there are

    def summary(self, chosen: Sequence[int]) -> _Summary:
        """For some items, the share that is entirely right, and the mean NLL of all target tokens, as in a fit."""
        accuracy = np.mean([self.right[index] for index in chosen])
        nll = [self.nll[index] for index in chosen]
        targets = [self.targets[index] for index in chosen]
        mean_nll = np.average(nll, weights=targets)
        return _Summary(len(chosen), round(float(accuracy), 4), round(float(mean_nll), 4))


def _commonest_answer(prompts: Sequence[Encoded]) -> float:
    """The share of prompts that the commonest target answers: the accuracy of saying always the same."""
    answers = Counter(prompt.ids[-prompt.targets :] for prompt in prompts)
    return max(answers.values()) / answers.total()


def gate_gradients(model: GatedModel, prompts: Sequence[Encoded]) -> GateArray:  # [prompt, L, H]
    """∂ (mean NLL of its target) / ∂ gate at gates of 1, for every prompt: one backward pass."""
    parts = []
    for batch in within(prompts, AT_ONCE):
        with torch.enable_grad():
            gates = torch.ones(len(batch.ids), len(model.card.layers), model.card.heads, device=model.device)
            gates.requires_grad_()
            rows = torch.as_tensor(batch.rows, device=model.device)  # [n]
            targets = torch.bincount(rows).to(torch.float32)  # [B] how many target tokens each prompt has
            log_probs = model.own_log_probs(batch, gates)  # [n]
            nll = -(log_probs / targets[rows]).sum()  # each prompt has gates of its own, so the sum mixes nothing
            (gradient,) = torch.autograd.grad(nll, gates)
        parts.append(gradient.cpu().numpy())
    return np.concatenate(parts)


def toggled(
    model: GatedModel,
    prompts: Sequence[Encoded],
    gates: GateArray,  # [L, H]
    layer: int,
) -> GateArray:  # [H]
    """The change of the mean log-probability of the target tokens when one head of a layer goes from 1 to 0."""
    heads = model.card.heads
    index = model.card.layers.index(layer)
    fitted = torch.tensor(gates, dtype=torch.float32, device=model.device)
    with_head = fitted.repeat(heads, 1, 1)  # [H, L, H]: variant h has the gate of head h at 1 …
    without_head = fitted.repeat(heads, 1, 1)  # … and here at 0
    for head in range(heads):
        with_head[head, index, head] = 1
        without_head[head, index, head] = 0
    variants = torch.cat([with_head, without_head])
    parts: list[Tensor] = []
    for batch in within(prompts, AT_ONCE // len(variants)):
        parts.append(model.log_probs(batch, variants))
    mean = torch.cat(parts, 1).mean(1)  # [2 H]
    change = mean[heads:] - mean[:heads]
    return change.cpu().numpy().astype(float)


def _rounded(values: GateArray) -> list[Any]:
    """As nested lists, in the precision that is stored."""
    rounded: list[Any] = np.round(values, 6).tolist()
    return rounded


def _json(content: Any) -> bytes:
    return json.dumps(content).encode()
