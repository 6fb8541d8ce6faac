"""How variants of a batch of prompts share one run: as rows of a larger batch, or side by side in its sequences."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from analysis.compute.untouched_run import KEYS_AND_VALUES, UntouchedRun

ROWS = 2_048  # tokens at once of variants that are rows
SIDE_BY_SIDE = 16_384  # … that stand side by side
SEQUENCE = 320  # … of them in one sequence: beyond, attention costs more than the layers

Positions = Literal["last", "all"]  # where heads are off: where the target is predicted, or everywhere
Replacement = Callable[[Tensor], None]


def first_layers(off: Tensor) -> Tensor:  # [V, L, H] bool → [V]
    """The first layer in which each variant has a head off; the last one where it has none."""
    layers = off.any(-1)
    return torch.where(layers.any(-1), layers.int().argmax(-1), off.shape[1] - 1)


def begins(run: UntouchedRun) -> Tensor:  # [B]
    """The first position of each prompt that predicts a target token."""
    targets = torch.bincount(torch.as_tensor(run.batch.rows))
    return torch.as_tensor(run.batch.lengths) - 1 - targets


def longest_target(run: UntouchedRun) -> int:
    """Tokens of the longest target."""
    return int(torch.bincount(torch.as_tensor(run.batch.rows)).max())


def layout_of(run: UntouchedRun, positions: Positions, window: int | None) -> "Rows | SideBySide":
    """How variants share a run; `window`: how far local attention reaches, where it counts along the sequence.

    There what stands in one sequence must be within its reach; a longer prompt is computed as rows.
    """
    if positions == "all":
        return Rows(run)
    longest = SEQUENCE if window is None else min(SEQUENCE, window - run.length)
    return SideBySide(run, longest) if longest >= longest_target(run) else Rows(run, only_last=True)


class Rows:
    """Every variant of every prompt is a row [V · B, T]: heads are off at all positions, or from one on."""

    def __init__(self, run: UntouchedRun, only_last: bool = False) -> None:
        """`only_last`: heads are off only where the target is predicted, although everything is computed."""
        self._run = run
        self._prompts = len(run.batch.ids)
        begin = begins(run) if only_last else torch.zeros(self._prompts, dtype=torch.int64)
        self._off = torch.arange(run.length) >= begin[:, None]  # [B, T]
        self.at_once = max(1, ROWS // (self._prompts * run.length))

    def joined(self, hidden: Tensor | None, untouched: Tensor, entering: int) -> Tensor:  # [V · B, T, d]
        """More variants, which until here are like the untouched run."""
        new = untouched.repeat(entering, 1, 1)
        return new if hidden is None else torch.cat([hidden, new])

    def arguments(self, call: dict[str, Any], layer: int, count: int) -> dict[str, Any]:
        """As in the untouched run; a mask made for B rows, all alike, serves V · B."""
        mask = call.get("attention_mask")
        return {**call, "attention_mask": mask[:1]} if isinstance(mask, Tensor) else dict(call)

    def replacement(self, off: Tensor, instead: Tensor) -> Replacement:  # [V, H] bool, [H, d_head]
        """Puts something in the place of the heads that are off."""
        variants, heads = off.nonzero(as_tuple=True)

        def replace(outputs: Tensor) -> None:  # [V · B, T, H · d_head]
            by_head = outputs.unflatten(0, (-1, self._prompts)).unflatten(-1, (len(instead), -1))
            new = instead[heads][:, None, None]
            if not self._off.all():
                where = self._off[None, :, :, None].to(outputs.device)
                new = torch.where(where, new, by_head[variants, :, :, heads])
            by_head[variants, :, :, heads] = new

        return replace

    def at_targets(self, hidden: Tensor, count: int) -> Tensor:  # [V, n, d]
        """Where target tokens are predicted."""
        batch = self._run.batch
        rows, positions = (torch.as_tensor(index, device=hidden.device) for index in (batch.rows, batch.positions))
        at_targets: Tensor = hidden.unflatten(0, (count, self._prompts))[:, rows, positions]
        return at_targets


class SideBySide:
    """The variants of a prompt follow it in one sequence [B, V · N]: heads are off at its last N positions.

    Those are the positions where its target is predicted; a prompt that has fewer than N is filled up behind, where
    nothing looks. Each variant sees the earlier positions, by the untouched run's keys and values, and itself.
    """

    def __init__(self, run: UntouchedRun, longest: int = SEQUENCE) -> None:
        """`longest`: tokens of variants in one sequence."""
        self._run = run
        device = run.keys[0].device
        self._begin = begins(run).to(device)
        self._length = longest_target(run)  # N
        steps = torch.arange(self._length, device=device)
        self._positions = (self._begin[:, None] + steps).clamp(max=run.length - 1)  # [B, N]
        self._prefix = int(self._begin.max())  # keys and values that any prompt keeps
        self.at_once = max(1, min(SIDE_BY_SIDE // len(self._begin), longest) // self._length)
        self._last: _Mask | None = None

    def joined(self, hidden: Tensor | None, untouched: Tensor, entering: int) -> Tensor:  # [B, V · N, d]
        """More variants, which until here are like the untouched run."""
        prompts = torch.arange(len(untouched), device=untouched.device)[:, None]
        new = untouched[prompts, self._positions].repeat(1, entering, 1)
        return new if hidden is None else torch.cat([hidden, new], 1)

    def arguments(self, call: dict[str, Any], layer: int, count: int) -> dict[str, Any]:
        """The layer's call in the untouched run with other positions and mask, and with the keys and values of it."""
        positions = self._positions.repeat(1, count)  # [B, V · N]
        arguments = {**call, "attention_mask": self._mask(call, count)}
        if isinstance(call.get("position_ids"), Tensor):
            arguments["position_ids"] = positions
        if call.get("position_embeddings") is not None:
            rotations = [_taken(rotation, positions) for rotation in call["position_embeddings"]]
            arguments["position_embeddings"] = tuple(rotations)
        name = next(name for name in KEYS_AND_VALUES if name in call)
        keys, values = self._run.keys[layer], self._run.values[layer]
        arguments[name] = _Prefix(keys[:, :, : self._prefix], values[:, :, : self._prefix])
        return arguments

    def replacement(self, off: Tensor, instead: Tensor) -> Replacement:  # [V, H] bool, [H, d_head]
        """Puts something in the place of the heads that are off."""
        variants, heads = off.nonzero(as_tuple=True)

        def replace(outputs: Tensor) -> None:  # [B, V · N, H · d_head]
            by_head = outputs.unflatten(1, (-1, self._length)).unflatten(-1, (len(instead), -1))
            by_head[:, variants, :, heads] = instead[heads][:, None, None]

        return replace

    def at_targets(self, hidden: Tensor, count: int) -> Tensor:  # [V, n, d]
        """Where target tokens are predicted."""
        rows = torch.as_tensor(self._run.batch.rows, device=hidden.device)
        positions = torch.as_tensor(self._run.batch.positions, device=hidden.device)
        by_variant = hidden.unflatten(1, (count, self._length))  # [B, V, N, d]
        at_targets: Tensor = by_variant[rows, :, positions - self._begin[rows]]
        return at_targets.transpose(0, 1)

    def _mask(self, call: dict[str, Any], count: int) -> Tensor:  # [B, 1, V · N, prefix + V · N]
        """What each position sees: of the prompt what it saw in the untouched run, of the variants its own."""
        seen = call.get("attention_mask")
        if self._last is not None and self._last.seen is seen and self._last.count == count:
            return self._last.mask
        dtype = call["hidden_states"].dtype
        prefix, own = self._visible(seen, dtype)
        every = torch.arange(count, device=own.device)
        others = own.new_full((len(own), count, self._length, count, self._length), torch.finfo(dtype).min)
        others[:, every, :, every] = own
        mask = torch.cat([prefix.repeat(1, count, 1), others.flatten(3).flatten(1, 2)], -1)[:, None]
        self._last = _Mask(seen, count, mask)
        return mask

    def _visible(self, seen: Tensor | None, dtype: torch.dtype) -> tuple[Tensor, Tensor]:  # [B, N, prefix], [B, N, N]
        """0 where one of the last positions sees an earlier one, or another of them; else very small."""
        prompts, length = len(self._begin), self._run.length
        device = self._begin.device
        allowed = torch.ones(length, length, dtype=torch.bool, device=device).tril().expand(prompts, 1, -1, -1)
        if seen is not None:
            visible = seen if seen.dtype == torch.bool else seen > torch.finfo(seen.dtype).min / 2
            allowed = allowed & visible[..., :length]
        of_last = allowed[torch.arange(prompts, device=device)[:, None], 0, self._positions]  # [B, N, T]
        before = torch.arange(length, device=device) < self._begin[:, None]  # [B, T]
        own = of_last.gather(2, self._positions[:, None].expand(-1, self._length, -1))  # [B, N, N]
        own = own | torch.eye(self._length, dtype=torch.bool, device=device)  # what only fills up sees itself
        own = own & torch.ones_like(own).tril()
        prefix = (of_last & before[:, None])[:, :, : self._prefix]
        least = torch.finfo(dtype).min
        zero = torch.zeros((), dtype=dtype, device=device)
        return torch.where(prefix, zero, least), torch.where(own, zero, least)


@dataclass(frozen=True)
class _Mask:
    """The last mask that was made; most layers need the same."""

    seen: Tensor | None
    count: int
    mask: Tensor


@dataclass(frozen=True)
class _Prefix:
    """To a layer it looks like a cache that holds the keys and values of the prompts."""

    keys: Tensor  # [B, H_kv, prefix, d_head]
    values: Tensor

    def update(self, keys: Tensor, values: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Those of the prompts before those of the variants."""
        return torch.cat([self.keys, keys], 2), torch.cat([self.values, values], 2)


def _taken(rotation: Tensor, positions: Tensor) -> Tensor:  # [1 or B, T, d], [B, n] → [B, n, d]
    every = rotation.expand(len(positions), -1, -1)
    return every[torch.arange(len(positions), device=every.device)[:, None], positions]
