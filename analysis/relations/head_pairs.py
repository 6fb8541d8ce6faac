"""The pairs behind a score: where one head ranks the target of every kept pair of a relation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from analysis.data.printable import printable
from analysis.results.intervals import wilson
from analysis.results.provenance import JsonObject
from analysis.results.scores import ONLY_SAMPLE

TOP = 5  # tokens shown per pair


@dataclass(frozen=True)
class RankedPair:
    """A pair and what the head does with it; rank 1 is promoted most, or suppressed most."""

    source: str
    target: str
    hit: bool
    rank: int  # of the target in the vocabulary
    source_rank: int  # of the source's own token
    top: tuple[str, ...]  # the tokens that rank highest, with the space at the start of a word


@dataclass(frozen=True)
class HeadPairs:
    """All kept pairs of a relation for one head, kind and sample, the best rank first."""

    method: str
    relation: str
    title: str
    kind: str
    sample: str
    head: str
    k: int
    vocabulary: int
    pairs: tuple[RankedPair, ...]

    @property
    def hits(self) -> int:
        """As many as the map counts."""
        return sum(pair.hit for pair in self.pairs)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval of the share of hits; None without pairs."""
        if not self.pairs:
            return None
        low, high = wilson(self.hits, len(self.pairs))
        return float(low), float(high)

    @property
    def beyond(self) -> float | None:
        """β: of the hits, the share whose target outranks the source; None without a hit and for copying relations."""
        ahead = [pair.rank < pair.source_rank for pair in self.pairs if pair.hit]
        copies = all(pair.rank == pair.source_rank for pair in self.pairs)
        return None if copies or not ahead else sum(ahead) / len(ahead)

    def to_plain(self) -> JsonObject:
        """As returned by the API and `--json`."""
        low, high = self.interval or (None, None)
        worth = {"low": low, "high": high, "beyond": self.beyond}
        return {**self._fields(), "kept": len(self.pairs), "hits": self.hits, **worth}

    def to_json(self) -> bytes:
        """As the store keeps it."""
        return json.dumps(self._fields()).encode()

    def _fields(self) -> JsonObject:
        """Like `dataclasses.asdict`, which copies every word of a thousand pairs and takes longer than ranking them."""
        return {**vars(self), "pairs": tuple(vars(pair) for pair in self.pairs)}

    @classmethod
    def from_json(cls, content: bytes) -> Self:
        """The inverse of `to_json`."""
        data: Mapping[str, Any] = json.loads(content)
        pairs = []
        for pair in data["pairs"]:
            pairs.append(RankedPair(**{**pair, "top": tuple(pair["top"])}))
        return cls(**{**data, "pairs": tuple(pairs)})

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair, each of the top tokens in a column of its own."""
        rows = []
        for pair in self.pairs:
            row: dict[str, object] = {
                "source": pair.source,
                "target": pair.target,
                "hit": pair.hit,
                "rank": pair.rank,
                "source_rank": pair.source_rank,
            }
            for place, token in enumerate(pair.top, start=1):
                row[f"top_{place}"] = token
            rows.append(row)
        return pd.DataFrame(rows, columns=None if rows else ["source", "target", "hit", "rank", "source_rank"])

    def to_text(self, basis: str) -> str:
        """For a terminal; `basis` says what the map was read from."""
        verb = "promotes" if self.kind == "promote" else "suppresses"
        sample = f" · {self.sample}" if self.sample != ONLY_SAMPLE else ""
        worth = [f"k = {self.k}"]
        if self.interval is not None:
            worth.append(f"95 % {self.interval[0]:.2f}–{self.interval[1]:.2f}")
        if self.beyond is not None:
            worth.append(f"β = {self.beyond:.2f}")
        hits = f"{self.hits} of {len(self.pairs)} pairs ({', '.join(worth)})"
        title = f"{self.head} {verb} {self.title}: {hits} · {basis}{sample}"
        sources = max([len("source"), *(len(pair.source) for pair in self.pairs)])
        targets = max([len("target"), *(len(pair.target) for pair in self.pairs)])
        own = "source's"
        heading = f"     {'source':{sources}}  {'target':{targets}}  {'rank':>7}  {own:>8}  first tokens"
        lines = [title, "", heading]
        for pair in self.pairs:
            mark = "hit" if pair.hit else ""
            ranks = f"{pair.rank:>7,}  {pair.source_rank:>8,}"
            top = " ".join(printable(token) for token in pair.top)
            lines.append(f"{mark:3}  {pair.source:{sources}}  {pair.target:{targets}}  {ranks}  {top}")
        return "\n".join(lines)
