"""Prompts as one sequence in which what several of them begin with stands once, and nothing is padded.

Every distinct beginning of a prompt is a *node*, so that "a b c" and "a b d" have four nodes. A node sees those it
begins with, at the positions that they have in the prompt. What causal attention computes at a node is therefore what
it computes in every prompt that begins with it.
"""

import torch
from torch import Tensor

from analysis.compute.positions import GivenCache, Replacement, as_mask, at_positions, seen_from
from analysis.compute.untouched_run import Arguments, KeysAndValues, UntouchedRun, cache_name
from analysis.data.prompts import Batch


class Nodes:
    """The distinct prefixes of a batch's prompts, as far as the last position that predicts a target token."""

    def __init__(self, batch: Batch) -> None:
        numbers: dict[tuple[int, int], int] = {}  # the node before it, its own token
        self.rows: list[int] = []  # a prompt that has the node
        self.depths: list[int] = []  # and its position there
        self.paths: list[list[int]] = []  # of each prompt
        for row, ids in enumerate(batch.ids.tolist()):
            path = [-1]
            for depth, token in enumerate(ids[: batch.lengths[row] - 1]):
                node = numbers.setdefault((path[-1], token), len(numbers))
                if node == len(self.rows):
                    self.rows.append(row)
                    self.depths.append(depth)
                path.append(node)
            self.paths.append(path[1:])

    def __len__(self) -> int:
        return len(self.rows)

    def prefixes(self) -> Tensor:  # [N, N] bool
        """Whether a node begins with another, or is that node."""
        begins = torch.zeros(len(self), len(self), dtype=torch.bool)
        for path in self.paths:
            nodes = torch.tensor(path)
            begins[nodes[:, None], nodes] |= torch.ones(len(path), len(path), dtype=torch.bool).tril()
        return begins


class Tree:
    """Every variant is a row of all prompts' nodes [V, N]: heads are off at all positions."""

    narrows = True

    def __init__(self, run: UntouchedRun, nodes: Nodes, tokens: int) -> None:
        """`tokens`: so many at once."""
        self._run = run
        self.at_once = max(1, tokens // len(nodes))
        device = run.keys[0].device
        self._rows = torch.tensor(nodes.rows, device=device)
        self._depths = torch.tensor(nodes.depths, device=device)
        self._begins = nodes.prefixes().to(device)
        predicted = zip(run.batch.rows.tolist(), run.batch.positions.tolist(), strict=True)
        targets = torch.tensor([nodes.paths[row][position] for row, position in predicted], device=device)
        # Ascending and each once: a layer that counts keys along the sequence then lets each see all before it.
        self._targets, self._of_target = targets.unique(return_inverse=True)
        self._last: tuple[Tensor | None, Tensor] | None = None  # most layers need the mask that the last one had

    def copies(self, untouched: Tensor, count: int) -> Tensor:  # [V, N, d]
        """For each variant what the untouched run recorded."""
        return untouched[self._rows, self._depths].repeat(count, 1, 1)

    def joined(self, hidden: Tensor, entered: Tensor) -> Tensor:  # [V, N, d]
        """Variants and more of them."""
        return torch.cat([hidden, entered])

    def arguments(self, call: Arguments, layer: int, count: int) -> Arguments:
        """The layer's call in the untouched run with other positions and mask."""
        arguments = at_positions(call, self._depths.expand(count, -1))
        return arguments | {"attention_mask": self._mask(call)}

    def narrowed(self, arguments: Arguments, cached: KeysAndValues, count: int) -> Arguments:
        """The call of a layer with only the nodes where targets are predicted."""
        call = self._run.calls[-1]
        narrow = at_positions(call, self._depths[self._targets].expand(count, -1))
        narrow["attention_mask"] = arguments["attention_mask"][:, :, self._targets]
        narrow[cache_name(arguments)] = GivenCache(cached.keys, cached.values)
        return {**narrow, "hidden_states": self.narrow(arguments["hidden_states"])}

    def narrow(self, states: Tensor) -> Tensor:  # [V, N, d] → [V, n, d]
        """Where targets are predicted."""
        return states[:, self._targets]

    def replacement(self, off: Tensor, instead: Tensor) -> Replacement:  # [V, H] bool, [H, d_head]
        """Puts something in the place of the heads that are off."""
        variants, heads = off.nonzero(as_tuple=True)

        def replace(outputs: Tensor) -> None:  # [V, N, H · d_head]
            by_head = outputs.unflatten(-1, (len(instead), -1))
            by_head[variants, :, heads] = instead[heads][:, None]

        return replace

    def at_targets(self, hidden: Tensor, count: int) -> Tensor:  # [V, n, d]
        """Where target tokens are predicted."""
        return hidden[:, self._of_target]

    def _mask(self, call: Arguments) -> Tensor:  # [1, 1, N, N]
        """What each node sees: of those it begins with what its position saw in the untouched run."""
        seen = call.get("attention_mask")
        if self._last is None or self._last[0] is not seen:
            visible = seen_from(seen, self._depths[None], self._run.length)[0][:, self._depths]  # [N, N]
            mask = as_mask(visible & self._begins, call["hidden_states"].dtype)[None, None]
            self._last = (seen, mask)
        return self._last[1]
