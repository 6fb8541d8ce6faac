"""What a person takes away of the function map: tables, and a script that computes it again."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.data.relations import builtin
from analysis.relations.frame import relation_frame
from analysis.relations.labels import LEAST_BEYOND
from analysis.results.scores import Scores
from dashboard.maps.function.basis import basis_of, has_carriers
from dashboard.maps.function.panels import ALL, labels_behind
from dashboard.maps.function.state import FunctionState
from dashboard.maps.map import MapView, head_columns, with_model, with_source
from dashboard.maps.panel import Panel
from dashboard.maps.script import CHECK_FILES, COMPARE, Constant, script

_OVER = {"mean": "mean", "every": "min", "some": "max"}  # by the state's word


def frame(shown: MapView[FunctionState]) -> pd.DataFrame:
    """A row for each head and panel: the number that decides, and whether the head belongs."""
    state, frames = shown.state, []
    for panel in shown.panels:
        rows = {
            "item": panel.key,
            "kind": state.kind,
            "sample": state.how,
            **head_columns(shown.card),
            "score": panel.value.ravel(),
            "rank": panel.strongest.ravel(),
            "member": panel.member.ravel(),
            **_behind(panel, shown),
        }
        frames.append(pd.DataFrame(rows))
    table = with_model(pd.concat(frames, ignore_index=True), shown.result)
    table["tau"] = state.tau
    table["labels"] = state.labels
    if has_carriers(shown.whole):
        table["carriers"] = state.carriers
    relations = {panel.key: _relations_of(panel, shown) for panel in shown.panels}
    return _with_pairs(table, shown.result, relations)


def scores_frame(scores: Scores) -> pd.DataFrame:
    """One row per score, with its interval and what it is compared with."""
    names = [item.name for item in scores.provenance.items]
    return _with_pairs(relation_frame(scores), scores, {name: [name] for name in names})


def _behind(panel: Panel, shown: MapView[FunctionState]) -> dict[str, npt.NDArray[Any]]:
    """What stands behind the number that decides: its effect, interval, β, copied share, control, whether poor."""
    if not _relations_of(panel, shown):
        return {}
    label = labels_behind(panel.key, shown.result, shown.state)
    effect = np.where(label.suppresses, "suppress", "promote")
    columns: dict[str, npt.NDArray[Any]] = {
        "effect": np.where(label.score > 0, effect, "").ravel(),  # a score of 0 has none
        "low": label.low.ravel(),
        "high": label.high.ravel(),
    }
    if panel.hollow is not None:
        columns |= {"beyond": label.beyond.ravel(), "copied": label.copied.ravel(), "control": label.control.ravel()}
        columns["hollow"] = panel.hollow.ravel()
    return columns


def _relations_of(panel: Panel, shown: MapView[FunctionState]) -> list[str]:
    """The relations that a panel's numbers are made of."""
    if shown.state.relation:
        return [panel.key]
    return shown.result.items(None if panel.key == ALL else panel.key)


def _with_pairs(table: pd.DataFrame, scores: Scores, relations: dict[str, list[str]]) -> pd.DataFrame:
    """Columns that say which weights, method and pairs."""
    table = with_source(table, scores)
    table["k"] = table["item"].map({name: _ks(scores, items) for name, items in relations.items()})
    table["relation_hash"] = table["item"].map({name: _hash(scores, items) for name, items in relations.items()})
    return table


def _ks(scores: Scores, items: list[str]) -> str:
    return " ".join(map(str, sorted({scores.item(name).k or 0 for name in items})))


def _hash(scores: Scores, items: list[str]) -> str:
    """The hash of a relation's pairs; of several relations, the hash of theirs."""
    hashes = sorted(scores.item(name).hash for name in items)
    return hashes[0] if len(hashes) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest()[:16]


def reproduce(shown: MapView[FunctionState], title: str, address: str) -> str:
    """A script that computes the view again from the weights, and says whether they are the same ones."""
    state = shown.state
    panels = {panel.key: _relations_of(panel, shown) for panel in shown.panels if panel.key != ALL}
    own = [f"{name}.csv" for name in _shown_relations(shown) if name not in builtin()]
    constants = [
        Constant("TITLE", title),
        Constant("ADDRESS", address),
        Constant("FINGERPRINT", shown.card.fingerprint, "of the weights that the view was made from"),
        Constant("COMMAND", _command(shown)),
        Constant("PANELS", panels, "the relations of each"),
        Constant("KINDS", list(state.kinds)),
        Constant("RULE", "min" if state.how == "always" else "max", "over the relations of a panel"),
        Constant("TAU", state.tau),
    ]
    if own:
        constants.append(Constant("OWN_FILES", own, "files that must be here: Models and jobs has them to download"))
    if has_carriers(shown.whole):
        constants.append(Constant("SAMPLES", _samples(shown), "carriers"))
        constants.append(Constant("OVER_SAMPLES", _OVER.get(state.carriers, "max")))
    if state.labels == "beyond":
        words = "with a smaller share of hits beyond copying a label is copy-like"
        constants.append(Constant("LEAST_BEYOND", LEAST_BEYOND, words))
    if state.top:
        constants.append(Constant("TOP", state.top, "only so many heads of a panel"))
    purpose = "Compute a view of Head Atlas again. Run it where Head Atlas is installed: python reproduce.py"
    return script(purpose, constants, _program(shown, bool(own)))


def _program(shown: MapView[FunctionState], has_own: bool) -> str:
    """What the script does with its constants: no more than this view needs."""
    state, of_panel = shown.state, list(_SCORES)
    if has_carriers(shown.whole):
        of_panel = [*_OF_CARRIERS]
    if state.labels == "beyond":
        of_panel += _BEYOND
    of_panel += _MEMBERS
    if state.top:
        of_panel += _TOP
    words = ", beyond copying" if state.labels == "beyond" else ""
    of_panel += [f'print(f"{{panel}}: {{len(above)}} heads above {{TAU}}{words}")', "print(above.head(10).to_string())"]
    lines = [*(CHECK_FILES if has_own else ()), *_COMPUTE]
    if state.labels == "beyond":
        lines += _MEASURED_OF_CARRIERS if has_carriers(shown.whole) else _MEASURED
    lines += ["", "", "for panel, items in PANELS.items():", *(f"    {line}" for line in of_panel)]
    imports = ["import json", "import subprocess", "import sys", *(["from pathlib import Path"] if has_own else [])]
    return "\n".join(["", *imports, "", "import pandas as pd", "import pyarrow.parquet as pq", "", *lines, ""])


def _command(shown: MapView[FunctionState]) -> list[str]:
    """What computes the scores that are shown again; it asks for no other relations and samples."""
    facts = shown.result.provenance
    method, settings, items = basis_of(facts), dict(facts.settings), facts.items
    if method.samples_field in settings:
        settings[method.samples_field] = _samples(shown)
    if shown.state.relation:
        items = (shown.result.item(shown.state.relation),)
    (command,) = method.commands_for(replace(facts, settings=settings, items=items))
    return [*command, "--out", "scores.parquet"]


def _shown_relations(shown: MapView[FunctionState]) -> list[str]:
    """The relations that the view is made of."""
    return [shown.state.relation] if shown.state.relation else shown.result.items()


def _samples(shown: MapView[FunctionState]) -> list[str]:
    """The samples that the view is made of: a carrier alone needs no other."""
    samples = shown.whole.samples
    return [shown.state.carriers] if shown.state.carriers in samples else samples


_COMPUTE = (
    'subprocess.run([sys.executable, "-m", "analysis", *COMMAND], check=True)',
    'made_from = json.loads(pq.read_schema("scores.parquet").metadata[b"head-atlas"])["model"]["fingerprint"]',
    COMPARE,
    'scores = pd.read_parquet("scores.parquet")',
    'LABEL = ["item", "kind", "layer", "head"]',
)
_MEASURED = (
    "",
    "",
    "def measured(rows, part):",
    '    of_kinds = rows[rows["kind"].isin([f"{part} {kind}" for kind in KINDS])]',
    '    of_kinds = of_kinds.assign(kind=of_kinds["kind"].str.removeprefix(f"{part} "))',
    '    return of_kinds.groupby(LABEL)["score"].mean()',
)
_MEASURED_OF_CARRIERS = (
    "",
    "",
    "def measured(rows, part):",
    '    own = rows[rows["kind"].isin(KINDS)].set_index([*LABEL, "sample"])',
    '    measures = rows[rows["kind"].isin([f"{part} {kind}" for kind in KINDS])]',
    '    measures = measures.assign(kind=measures["kind"].str.removeprefix(f"{part} "))',
    '    values = measures.set_index([*LABEL, "sample"])["score"]',
    '    if OVER_SAMPLES != "mean":  # the number of the carrier whose score is shown',
    '        deciding = own["score"].dropna().groupby(LABEL, sort=False).agg("idx" + OVER_SAMPLES)',
    "        return values.reindex(deciding).droplevel(-1)",
    '    weights = own["hits"].reindex(values.index) if part == "beyond" else values.notna()  # a share of the hits',
    "    weights = weights.where(values.notna(), 0).astype(float)",
    "    return (values * weights).groupby(LABEL).sum() / weights.groupby(LABEL).sum()",
)
_SCORES = (
    'asked = scores[scores["item"].isin(items)]',
    'chosen = asked[asked["kind"].isin(KINDS)].set_index(LABEL)["score"]',
)
_OF_CARRIERS = (
    'asked = scores[scores["item"].isin(items) & scores["sample"].isin(SAMPLES)]',
    'chosen = asked[asked["kind"].isin(KINDS)].groupby(LABEL)["score"].agg(OVER_SAMPLES)',
)
_BEYOND = (
    'beyond, control = (measured(asked, part).reindex(chosen.index) for part in ("beyond", "control"))',
    "chosen = chosen.mask((beyond < LEAST_BEYOND) | (control > TAU), 0)  # poor labels do not count",
)
_MEMBERS = (
    'best = chosen.groupby(["item", "layer", "head"]).max()  # the larger of the kinds',
    'value = best.groupby(["layer", "head"]).agg(RULE)',
    "above = value[value > TAU].sort_values(ascending=False)",
)
_TOP = (
    "if len(above) > TOP:",
    "    above = above[above >= above.iloc[TOP - 1]]",
)
