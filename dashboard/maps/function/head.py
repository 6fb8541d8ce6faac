"""One head in the function map: its scores for every relation, on the card and for scripts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from dash import html

from analysis.models.card import HeadId
from analysis.results.scores import ONLY_SAMPLE, Missing, Scores, ranks
from dashboard.cache import cached
from dashboard.maps.function.basis import basis_of, carrier_words, has_carriers
from dashboard.maps.function.labels import labels_of, words
from dashboard.maps.function.state import FunctionState
from dashboard.maps.head_part import AskedHead, HeadPart, provenance_table
from dashboard.maps.map import MapView
from dashboard.palette import Colours

_TITLES = {"beyond": "β", "control": "control"}
_EXPLAINED = {
    "beyond": "of the hits, the share whose target outranks the source itself; below 0.5 a label is copy-like",
    "control": "the score with the targets shuffled among the pairs; above τ a label is unspecific",
}


@dataclass(frozen=True)
class RelationRow:
    """A head's scores for one relation."""

    name: str
    title: str
    category: str
    kept: int  # pairs that are single tokens of the model
    applicable: bool
    promote: float
    suppress: float
    promote_hits: float
    suppress_hits: float
    promote_rank: int
    suppress_rank: int
    best: float  # the larger of both, NaN without a score
    low: float  # of its 95 % interval
    high: float
    beyond: float  # β: of its hits the share whose target outranks the source; NaN where it was not measured
    copied: float  # the share of pairs whose source itself is among the k
    control: float  # the score with shuffled targets
    missing: str  # why there is none

    @property
    def order(self) -> float:
        """The best score, below all others where there is none."""
        return -1.0 if np.isnan(self.best) else self.best

    @property
    def rank(self) -> int:
        """Of the stronger of both effects."""
        return self.suppress_rank if self.suppress > self.promote else self.promote_rank

    def remarks(self, tau: float) -> list[str]:
        """What is to be said against the stronger of both effects."""
        return words(self.best, self.low, self.high, self.beyond, self.control, tau)


@cached(16)
def _ranks(scores: Scores) -> npt.NDArray[np.intp]:  # [item, kind, layer, head]
    """Each head's rank for each item and kind."""
    values = scores.score.sel(sample=ONLY_SAMPLE).values
    of_items = [[ranks(one) for one in kinds] for kinds in values]
    return np.array(of_items, dtype=np.intp).reshape(values.shape)


def head_scores(scores: Scores, head: HeadId) -> list[RelationRow]:
    """Every relation's scores of a head with hits and rank, best first, those without a score last."""
    at = scores.provenance.model.layers.index(head.layer)
    score, hits, missing = (
        array.sel(sample=ONLY_SAMPLE).values[:, :, at, head.head]
        for array in (scores.score, scores.hits, scores.missing)
    )
    standing, labels = _ranks(scores)[:, :, at, head.head], labels_of(scores)
    kinds = scores.score.kind.values.tolist()
    promote, suppress = kinds.index("promote"), kinds.index("suppress")
    rows = []
    for i, item in enumerate(scores.provenance.items):
        stronger = suppress if score[i, suppress] > score[i, promote] else promote
        place = (i, stronger, at, head.head)
        row = RelationRow(
            name=item.name,
            title=item.title,
            category=item.category,
            kept=item.kept,
            applicable=item.applicable,
            promote=float(score[i, promote]),
            suppress=float(score[i, suppress]),
            promote_hits=float(hits[i, promote]),
            suppress_hits=float(hits[i, suppress]),
            promote_rank=int(standing[i, promote]),
            suppress_rank=int(standing[i, suppress]),
            best=float(score[i].max()),
            low=float(labels.low[place]),
            high=float(labels.high[place]),
            beyond=float(labels.beyond[place]),
            copied=float(labels.copied[place]),
            control=float(labels.control[place]),
            missing=Missing(missing[i].max()).words,
        )
        rows.append(row)
    return sorted(rows, key=lambda row: -row.order)


def head_part(asked: AskedHead, shown: MapView[FunctionState] | None, command: str) -> HeadPart:
    """The relations of a head; with several heads they stand in the same order in all cards."""
    heading = [] if asked.on_page else [html.H3("Function map")]
    rows = {row.name: row for row in head_scores(shown.result, asked.head)} if shown is not None else {}
    if shown is None or not rows:
        return HeadPart([*heading, html.P(["No function map yet: ", html.Code(command)], className="hint")])
    ordered = [rows[name] for name in _order(shown.result, asked.pinned)]
    table = _relations(ordered, shown.state.tau, shown.total, asked.palette)
    return HeadPart([*heading, table], [_provenance(shown)])


def _order(scores: Scores, heads: tuple[HeadId, ...]) -> list[str]:
    """Relations by the best score that any of the heads has."""
    best: dict[str, float] = {}
    for head in heads:
        for row in head_scores(scores, head):
            best[row.name] = max(best.get(row.name, -1.0), row.order)
    return sorted(best, key=lambda name: -best[name])


def _relations(rows: list[RelationRow], tau: float, total: int, palette: Colours) -> html.Div:
    """Bars to the right for what the head promotes, to the left for what it suppresses."""
    columns = _measured_columns(rows)
    body = [_relation_row(row, columns, tau, palette) for row in rows if row.applicable]
    header = [
        html.Th("Relation", scope="col"),
        html.Th("suppresses", scope="col", className="left"),
        html.Th("promotes", scope="col"),
        html.Th("95 % interval", scope="col", className="num", title="of the larger score"),
        html.Th("hits / pairs", scope="col", className="num"),
        *(html.Th(_TITLES[name], scope="col", className="num", title=_EXPLAINED[name]) for name in columns),
        html.Th(f"rank of {total:,}", scope="col", className="num"),
    ]
    table = html.Table([html.Thead(html.Tr(header)), html.Tbody(body)], className="relations")
    return html.Div(table, className="wide")


def _measured_columns(rows: list[RelationRow]) -> list[str]:
    """Those of β and control that are known of any relation."""
    return [name for name in _TITLES if not all(np.isnan(getattr(row, name)) for row in rows)]


def _relation_row(row: RelationRow, columns: list[str], tau: float, palette: Colours) -> html.Tr:
    colour = palette.of(row.category)
    remarks = [html.Small(remark, className="remark") for remark in row.remarks(tau)]
    below = [html.Span(remarks, className="remarks")] if remarks else []
    return html.Tr(
        [
            html.Th([row.title, *below], scope="row"),
            html.Td(_bar(row.suppress, colour), className="left"),
            html.Td(_bar(row.promote, colour)),
            html.Td(f"{row.low:.2f}–{row.high:.2f}" if row.best > 0 else "", className="num faint"),
            html.Td(_hits(row), className="num"),
            *(html.Td(_share(getattr(row, name)), className="num") for name in columns),
            html.Td(str(row.rank) if row.best > 0 else "", className="num"),
        ],
        className="strong" if row.best > tau else "",
    )


def _share(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def _hits(row: RelationRow) -> str:
    """Hits of both kinds; one alone when the other has none."""
    if np.isnan(row.best):
        return row.missing
    promoted, suppressed = row.promote_hits, row.suppress_hits
    counts = [_count(promoted)] if promoted or not suppressed else []
    counts += [f"−{_count(suppressed)}"] if suppressed else []
    return f"{', '.join(counts)} / {row.kept}"


def _count(hits: float) -> str:
    """A whole number; the mean over several carriers may have a decimal."""
    return f"{hits:.0f}" if hits == round(hits) else f"{hits:.1f}"


def _bar(score: float, colour: str) -> html.Span:
    share = 0.0 if np.isnan(score) else score
    text = f"{share:.2f}" if share else ""
    bar = html.I(style={"width": f"{100 * share:.1f}%", "background": colour})
    return html.Span([bar, html.Span(text)], className="bar")


def _own_settings(shown: MapView[FunctionState]) -> str:
    """The carriers, or what else the basis depends on."""
    if has_carriers(shown.whole):
        phrases = ", ".join(f"“{carrier}”" for carrier in shown.whole.samples)
        return f"carriers {phrases}; shown {carrier_words(shown)}"
    return basis_of(shown.whole.provenance).report_settings(shown.whole.provenance)


def _provenance(shown: MapView[FunctionState]) -> html.Details:
    """Where the numbers come from."""
    facts = shown.result.provenance
    card, settings, method = facts.model, facts.settings, basis_of(facts)
    rows = {
        "model": f"{card.id} ({card.family}, {len(card.layers)} × {card.heads} heads)",
        "fingerprint": card.fingerprint[:16],
        "weights": card.note or card.dtype,
        "method": f"{method.title.lower()}, version {facts.version}",
        "settings": f"k = {settings['k_standard']}, copying {settings['k_copying']}; {_own_settings(shown)}",
        "computed": f"{facts.date} on {facts.device}",
        "with": ", ".join(f"{name} {version}" for name, version in facts.libraries.items()),
    }
    return provenance_table("Provenance of the function map", rows)
