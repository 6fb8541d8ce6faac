"""What a person takes away of the causal map: tables, and a script that fits it again."""

import pandas as pd

from analysis.data.tasks import builtin
from analysis.methods.causal.commands import DEFAULTS, fit_command
from analysis.results.provenance import JsonObject
from analysis.results.scores import Scores, ranks
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import PREVIEW, shown_tasks, task_names
from dashboard.maps.causal.state import CausalState
from dashboard.maps.map import MapView, head_columns, head_names, with_model
from dashboard.maps.panel import Panel, PanelMeasure
from dashboard.maps.script import CHECK_FILES, COMPARE, Constant, script

_COLUMNS = ["item", "kind", "sample", "layer", "head", "score", "rank", "member"]


def frame(shown: MapView[CausalState]) -> pd.DataFrame:
    """The map as it is shown: a row for each head, panel and score."""
    frames = []
    for panel in shown.panels:
        frames += [_rows(panel, measure, shown) for measure in panel.measures]
    table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=_COLUMNS)
    table = with_model(table, shown.result)
    if shown.state.gates != PREVIEW:  # which has no threshold
        table["threshold"] = shown.state.threshold
    return _with_task_facts(table, shown.result)


def _rows(panel: Panel, measure: PanelMeasure, shown: MapView[CausalState]) -> pd.DataFrame:
    values, kind = measure.value, measure.key
    strength = -values if kind == PREVIEW else values
    member = panel.member if kind == PREVIEW else values >= shown.state.threshold
    rows = {
        "item": panel.row,
        "kind": kind,
        "sample": panel.column,
        **head_columns(shown.card),
        "score": values.ravel(),
        "rank": ranks(strength).ravel(),
        "member": member.ravel(),
    }
    return pd.DataFrame(rows)


def scores_frame(causal: Scores) -> pd.DataFrame:
    """One row per score that there is."""
    table = causal.to_frame()
    return _with_task_facts(table[table["score"].notna()].reset_index(drop=True), causal)


def _with_task_facts(table: pd.DataFrame, causal: Scores) -> pd.DataFrame:
    """Every row with how its own task was fitted."""
    if "name" not in table:
        table["name"] = head_names(table)
    table["fingerprint"] = causal.provenance.model.fingerprint
    table["method_version"] = causal.provenance.version
    facts = pd.DataFrame({task: _facts_of(causal, task) for task in task_names(causal)}).T
    for name in facts.columns:
        table[name] = table["item"].map(facts[name])
    return table


def _facts_of(causal: Scores, task: str) -> JsonObject:
    """How a task was fitted, when, and to what."""
    settings = evidence.fit_settings(causal, task)
    updates = [settings[name] for name in ("free_updates", "push_updates") if name in settings]
    rates = [settings[name] for name in ("free_rate", "push_rate") if name in settings]
    return {
        "computed": evidence.computed(causal, task),
        **{name: settings.get(name) for name in ("seeds", "batch", "push", "clip")},
        "updates": "+".join(map(str, updates)),
        "rates": " ".join(f"{rate:g}" for pair in rates for rate in pair),
        "task_hash": causal.item(task).hash,
    }


def reproduce(shown: MapView[CausalState], title: str, address: str) -> str:
    """A script that fits each task on the page again, and says whether weights and settings are the same."""
    causal, state = shown.result, shown.state
    commands, fitted = [], []
    for task in shown_tasks(causal, state):
        settings = {"seeds": 0} if state.gates == PREVIEW else evidence.fit_settings(causal, task)
        commands.append(fit_command(shown.card, causal.item(task), settings))
        fitted.append({name: settings[name] for name in DEFAULTS if name in settings})
    own = [f"{task}.jsonl" for task in shown_tasks(causal, state) if task not in builtin()]
    constants = [
        Constant("TITLE", title),
        Constant("ADDRESS", address),
        Constant("FINGERPRINT", shown.card.fingerprint, "of the weights that the view was made from"),
        Constant("COMMANDS", commands),
    ]
    if own:
        constants.append(Constant("OWN_FILES", own, "files of tasks and pairs that must be here"))
    if state.gates != PREVIEW:
        constants.append(Constant("SETTINGS", fitted, "of the fits that the view was made from"))
        constants.append(Constant("THRESHOLD", state.threshold, "the score from which on a head has a role"))
    purpose = "Compute a causal map again. Run it where Head Atlas is installed: python reproduce.py"
    return script(purpose, constants, _program(state, bool(own)))


def _program(state: CausalState, has_own: bool) -> str:
    """What the script does with its constants: no more than this view needs."""
    imports = ["import json", "import subprocess", "import sys", *(["from pathlib import Path"] if has_own else [])]
    of_command = [*_COMPUTE, *(_PREVIEWED if state.gates == PREVIEW else _FITTED)]
    each = "for number, command in enumerate(COMMANDS):"
    lines = [*(CHECK_FILES if has_own else ()), each, *(f"    {line}" for line in of_command)]
    return "\n".join(["", *imports, "", "import pandas as pd", "import pyarrow.parquet as pq", "", *lines, ""])


_COMPUTE = (
    'out = f"gates-{number}.parquet"',
    'subprocess.run([sys.executable, "-m", "analysis", *command, "--out", out], check=True)',
    'facts = json.loads(pq.read_schema(out).metadata[b"head-atlas"])',
    'made_from = facts["model"]["fingerprint"]',
    COMPARE,
    'scores = pd.read_parquet(out).dropna(subset="score")',
)
_PREVIEWED = (
    'gradients = scores[(scores["kind"] == "gradient") & (scores["sample"] == "mean")]',
    'for task, rows in gradients.groupby("item"):',
    '    best = rows.nsmallest(10, "score").set_index(["layer", "head"])["score"].round(4)',
    '    print(task, "preview, most helpful heads:", dict(best))',
)
_FITTED = (
    "settings = SETTINGS[number]",
    'other = {name: facts["settings"].get(name) for name in settings if facts["settings"].get(name) != settings[name]}',
    'print(f"OTHER SETTINGS: {other}" if other else "same settings")',
    'roles = scores[scores["kind"].isin(["facilitation", "interference", "irrelevance"])]',
    'for (task, kind), rows in roles.groupby(["item", "kind"]):',
    '    heads = rows.groupby(["layer", "head"])["score"]',
    "    always, some = heads.min() >= THRESHOLD, heads.max() >= THRESHOLD",
    '    print(f"{task} {kind}: always {always.mean():.1%}, any {some.mean():.1%} of the heads")',
)
