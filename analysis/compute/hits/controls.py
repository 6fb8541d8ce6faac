"""What a score is compared with: how often the source itself is a hit, and how often another pair's target is.

Both are claims about the same heads and sources as the score's own, so they go through the same three passes. Only
heads that score at least `FLOOR` for a relation are asked: below it there is no score to be explained.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from analysis.compute.hits.control_query import ControlQuery
from analysis.compute.hits.deciding import true_claims
from analysis.compute.hits.elimination import Elimination, HeadMatrices
from analysis.compute.hits.inputs import Inputs
from analysis.compute.hits.survivors import Survivors
from analysis.data.relations import FLOOR


@dataclass(frozen=True)
class HeadScore:
    """A head's score for a relation that is to be compared."""

    relation: int
    way: int  # 0 promotion, 1 suppression
    owner: int  # the head: its layer's position in the run · H + head


@dataclass(frozen=True)
class Controls:
    """The control pairs of a query, with what every layer needs alike."""

    pairs: ControlQuery
    inputs: Inputs  # the same with the control pairs as its query
    elimination: Elimination

    @classmethod
    def of(cls, elimination: Elimination) -> Self:
        """Read the rows of U of the sources, too."""
        inputs = elimination.inputs
        pairs = ControlQuery.of(inputs.query)
        targets = inputs.unembedding.unembed(pairs.query.targets)
        own = replace(inputs, query=pairs.query.to(inputs.heads.device), targets=targets)
        return cls(pairs, own, elimination.asking(own))

    def source_rows(self) -> Tensor:  # [S, d]
        """U's row of each source's own token."""
        return self.inputs.targets.index_select(0, self.pairs.own.to(self.inputs.heads.device))

    def measured(self, hits: Tensor, layers: Sequence[int]) -> tuple[Tensor, Tensor]:  # [R, 2, L · H] → twice the same
        """The share of pairs whose source itself is a hit, and the score with the targets shuffled.

        NaN where a head scores less than `FLOOR`, for the first also where the relation is one of copying.
        """
        copied = torch.full(hits.shape, torch.nan, dtype=torch.float64)
        control = copied.clone()
        asked = self._asked(hits)
        if asked:
            held, row_of = self._held(asked, layers)
            for one in asked:
                place = (one.relation, one.way, one.owner)
                true = held[row_of[one.way, one.owner]]
                if not self.pairs.copying[one.relation]:
                    copied[place] = true[self.pairs.itself[one.relation]].double().mean()
                draws = [true[draw].double().mean() for draw in self.pairs.shuffled[one.relation] if len(draw)]
                if draws:
                    control[place] = torch.stack(draws).mean()
        return copied, control

    def _asked(self, hits: Tensor) -> list[HeadScore]:  # [R, 2, L · H]
        """The scores that reach the floor, by head and way."""
        kept = torch.tensor([len(itself) for itself in self.pairs.itself], dtype=torch.float64)
        reached = (hits / kept[:, None, None] >= FLOOR).permute(2, 1, 0)
        return [HeadScore(relation, way, owner) for owner, way, relation in reached.nonzero().tolist()]

    def _held(self, asked: Sequence[HeadScore], layers: Sequence[int]) -> tuple[Tensor, dict[tuple[int, int], int]]:
        """Which control pairs are hits [rows, pairs], and the row of each way and head."""
        parts = list(self._survivors(asked, layers))
        true = true_claims(self.inputs, self.elimination.compare, Survivors.join(parts), layers)
        row_of: dict[tuple[int, int], int] = {}
        for one in asked:
            row_of.setdefault((one.way, one.owner), len(row_of))
        held = torch.zeros(len(row_of), len(self.pairs.query.k), dtype=torch.bool)
        claims = torch.cat([torch.stack([true.way, true.owner, true.pair], 1), true.tied]).tolist()
        if claims:
            rows = torch.tensor([row_of[way, owner] for way, owner, _ in claims])
            held[rows, torch.tensor([pair for _, _, pair in claims])] = True
        return held, row_of

    def _survivors(self, asked: Sequence[HeadScore], layers: Sequence[int]) -> Iterator[Survivors]:
        """What the first pass leaves of each head's claims."""
        card, device = self.inputs.heads.card, self.inputs.heads.device
        share = card.heads // card.kv_heads
        by_owner: dict[int, list[HeadScore]] = {}
        for one in asked:
            by_owner.setdefault(one.owner, []).append(one)
        read = -1  # the position whose weights are at hand
        for owner, of_head in by_owner.items():
            position, head = divmod(owner, card.heads)
            if position != read:
                x = self.inputs.sources.x(layers[position])
                w_v, w_o = self.inputs.heads.values(layers[position]), self.inputs.heads.outputs(layers[position])
                read = position
            way, pair = self._claims(of_head)
            matrices = HeadMatrices(w_v[head // share], w_o[head])
            yield self.elimination.survivors_of_head(matrices, x, owner, way.to(device), pair.to(device))

    def _claims(self, of_head: Sequence[HeadScore]) -> tuple[Tensor, Tensor]:  # [n] ascending, [n]
        """Ways and pairs of the claims about a head."""
        ways, pairs = [], []
        for way in (0, 1):
            members = [self.pairs.query.members[one.relation] for one in of_head if one.way == way]
            if members:
                pairs.append(torch.cat(members).unique())
                ways.append(torch.full_like(pairs[-1], way))
        return torch.cat(ways), torch.cat(pairs)
