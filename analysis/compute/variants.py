"""How variants of a batch of prompts share one run: as rows of a larger batch, or side by side in its sequences.

(`prefix_tree.py` has a third way, for prompts that begin alike or differ in length.)
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from analysis.compute.positions import GivenCache, Replacement, as_mask, at_positions, seen_from
from analysis.compute.prefix_tree import Nodes, Tree
from analysis.compute.untouched_run import Arguments, KeysAndValues, UntouchedRun, cache_name

ROWS = 1_024  # tokens at once of variants that are rows
TREE = 0.8  # prompts are a tree where that leaves at most this share of their tokens, padding included
SIDE_BY_SIDE = 16_384  # … that stand side by side
SEQUENCE = 320  # … of them in one sequence: beyond, attention costs more than the layers

Positions = Literal["last", "all"]  # where heads are off: where the target is predicted, or everywhere


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


def last_positions(run: UntouchedRun) -> Tensor:  # [B, N]
    """Where each prompt's target is predicted; where it is shorter than the longest, later positions fill up."""
    steps = torch.arange(longest_target(run))
    return (begins(run)[:, None] + steps).clamp(max=run.length - 1)


def final_positions(run: UntouchedRun) -> Tensor:  # [B, N]
    """The same, but filled up in front: a layer that counts keys along the sequence lets each see all before it."""
    ends = torch.as_tensor(run.batch.lengths) - 1
    steps = torch.arange(-longest_target(run), 0)
    return (ends[:, None] + steps).clamp(min=0)


def target_places(run: UntouchedRun, device: torch.device) -> tuple[Tensor, Tensor]:  # [n], [n]
    """Prompt and position of every target token's prediction."""
    rows = torch.as_tensor(run.batch.rows, device=device)
    return rows, torch.as_tensor(run.batch.positions, device=device)


def layout_of(run: UntouchedRun, positions: Positions, window: int | None) -> "Layout":
    """How variants share a run; `window`: how far local attention reaches, where it counts along the sequence.

    There what stands in one sequence must be within its reach; a longer prompt is computed as rows.
    """
    if positions == "all":
        nodes = Nodes(run.batch)
        longest = SEQUENCE if window is None else min(SEQUENCE, window)
        if len(nodes) <= min(longest, TREE * len(run.batch.ids) * run.length):
            return Tree(run, nodes, ROWS)
        return Rows(run, narrows=window is None or window >= run.length)
    longest = SEQUENCE if window is None else min(SEQUENCE, window - run.length)
    return SideBySide(run, longest) if longest >= longest_target(run) else Rows(run, only_last=True)


class Rows:
    """Every variant of every prompt is a row [V · B, T]: heads are off at all positions, or from one on."""

    def __init__(self, run: UntouchedRun, only_last: bool = False, narrows: bool = False) -> None:
        """`only_last`: heads are off only where the target is predicted, although everything is computed.

        `narrows`: the last layer is computed where targets are predicted, with the keys and values of all positions.
        """
        self._run = run
        self.narrows = narrows
        self._prompts = len(run.batch.ids)
        begin = begins(run) if only_last else torch.zeros(self._prompts, dtype=torch.int64)
        self._off = torch.arange(run.length) >= begin[:, None]  # [B, T]
        self.at_once = max(1, ROWS // (self._prompts * run.length))

    def copies(self, untouched: Tensor, count: int) -> Tensor:  # [V · B, T, d]
        """For each variant what the untouched run recorded."""
        return untouched.repeat(count, 1, 1)

    def joined(self, hidden: Tensor, entered: Tensor) -> Tensor:  # [V · B, T, d]
        """Variants and more of them."""
        return torch.cat([hidden, entered])

    def arguments(self, call: Arguments, layer: int, count: int) -> Arguments:
        """As in the untouched run; a mask made for B rows, all alike, serves V · B."""
        mask = call.get("attention_mask")
        return {**call, "attention_mask": mask[:1]} if isinstance(mask, Tensor) else dict(call)

    def narrowed(self, arguments: Arguments, cached: KeysAndValues, count: int) -> Arguments:
        """The call of a layer with only the positions where targets are predicted."""
        hidden = arguments["hidden_states"]
        positions = final_positions(self._run).to(hidden.device).repeat(count, 1)  # [V · B, N]
        narrow = at_positions(arguments, positions)
        seen = seen_from(arguments.get("attention_mask"), positions, self._run.length)  # [V · B, N, T]
        narrow["attention_mask"] = as_mask(seen, hidden.dtype)[:, None]
        narrow[cache_name(arguments)] = GivenCache(cached.keys, cached.values)
        return {**narrow, "hidden_states": self.narrow(hidden)}

    def narrow(self, states: Tensor) -> Tensor:  # [V · B, T, d] → [V · B, N, d] or as it is
        """Where targets are predicted, if the last layer is computed only there."""
        if not self.narrows:
            return states
        positions = final_positions(self._run).to(states.device)  # [B, N]
        prompts = torch.arange(self._prompts, device=states.device)[:, None]
        by_variant: Tensor = states.unflatten(0, (-1, self._prompts))  # [V, B, T, d]
        return by_variant[:, prompts, positions].flatten(0, 1)

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
        rows, positions = target_places(self._run, hidden.device)
        if self.narrows:
            ends = torch.as_tensor(self._run.batch.lengths, device=hidden.device)[rows] - 1
            positions = positions - ends + hidden.shape[1]
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
        self._positions = last_positions(run).to(device)  # [B, N]
        self._prefix = int(self._begin.max())  # keys and values that any prompt keeps
        self.at_once = max(1, min(SIDE_BY_SIDE // len(self._begin), longest) // self._length)
        self._last: _Mask | None = None

    def copies(self, untouched: Tensor, count: int) -> Tensor:  # [B, V · N, d]
        """For each variant what the untouched run recorded."""
        prompts = torch.arange(len(untouched), device=untouched.device)[:, None]
        return untouched[prompts, self._positions].repeat(1, count, 1)

    def joined(self, hidden: Tensor, entered: Tensor) -> Tensor:  # [B, V · N, d]
        """Variants and more of them."""
        return torch.cat([hidden, entered], 1)

    def narrow(self, states: Tensor) -> Tensor:  # [B, V · N, d]
        """Where targets are predicted, which is everywhere."""
        return states

    def arguments(self, call: Arguments, layer: int, count: int) -> Arguments:
        """The layer's call in the untouched run with other positions and mask, and with the keys and values of it."""
        positions = self._positions.repeat(1, count)  # [B, V · N]
        arguments = at_positions(call, positions) | {"attention_mask": self._mask(call, count)}
        keys, values = self._run.keys[layer], self._run.values[layer]
        arguments[cache_name(call)] = _Prefix(keys[:, :, : self._prefix], values[:, :, : self._prefix])
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
        rows, positions = target_places(self._run, hidden.device)
        by_variant = hidden.unflatten(1, (count, self._length))  # [B, V, N, d]
        at_targets: Tensor = by_variant[rows, :, positions - self._begin[rows]]
        return at_targets.transpose(0, 1)

    def _mask(self, call: Arguments, count: int) -> Tensor:  # [B, 1, V · N, prefix + V · N]
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
        device, length = self._begin.device, self._run.length
        of_last = seen_from(seen, self._positions, length)  # [B, N, T]
        before = torch.arange(length, device=device) < self._begin[:, None]  # [B, T]
        own = of_last.gather(2, self._positions[:, None].expand(-1, self._length, -1))  # [B, N, N]
        own = own | torch.eye(self._length, dtype=torch.bool, device=device)  # what only fills up sees itself
        own = own & torch.ones_like(own).tril()
        prefix = (of_last & before[:, None])[:, :, : self._prefix]
        return as_mask(prefix, dtype), as_mask(own, dtype)


Layout = Rows | SideBySide | Tree


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
