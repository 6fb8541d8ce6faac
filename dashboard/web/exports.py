"""What a person takes away: tables, a stand-alone page, a figure, a script. Each says where its numbers come from."""

import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import APIRouter, Request, Response

from analysis.data.relations import builtin
from analysis.data.tasks import builtin as builtin_tasks
from analysis.methods.causal.plan import METHOD, SEEDS, GateSettings
from analysis.models.card import ModelCard
from analysis.results.catalogue import Library
from analysis.results.provenance import Provenance
from analysis.results.scores import Scores, ranks
from dashboard.cache import cached
from dashboard.figures.head_map import head_maps
from dashboard.figures.numbers import plain
from dashboard.figures.picture import picture
from dashboard.maps.causal.gates import LETTERS, PREVIEW, shown_tasks
from dashboard.maps.function.panels import ALL, Panel
from dashboard.places import placed
from dashboard.state import ViewState
from dashboard.view import View, open_view

PICTURE_WIDTH = 1240


def view_frame(view: View) -> pd.DataFrame:
    """The view in long format, one row a head and panel: the number that decides, and whether the head belongs."""
    if view.is_causal:
        return _gate_frame(view)
    card, frames = view.scores.provenance.model, []
    for panel in view.panels:
        layers, heads = panel.value.shape
        frames.append(
            pd.DataFrame(
                {
                    "item": panel.key,
                    "kind": view.state.kind,
                    "sample": view.state.how,
                    "layer": [layer for layer in card.layers for _ in range(heads)],
                    "head": list(range(heads)) * layers,
                    "score": panel.value.ravel(),
                    "rank": panel.strongest.ravel(),
                    "member": panel.member.ravel(),
                }
            )
        )
    frame = pd.concat(frames, ignore_index=True)
    frame.insert(0, "model", card.id)
    frame.insert(1, "revision", card.revision)
    frame.insert(2, "method", view.scores.provenance.method)
    frame["tau"] = view.state.tau
    return _with_provenance(frame, view.scores, {panel.key: _relations_of(panel, view) for panel in view.panels})


def _gate_frame(view: View) -> pd.DataFrame:
    """The causal map as it is shown: one row a head, panel and score."""
    card, frames = view.shown.provenance.model, []
    for panel in view.panels:
        task, column = panel.of
        for name, values in panel.measures:
            kind = _KINDS[name]
            rows = {
                "item": task,
                "kind": kind,
                "sample": column,
                "layer": np.repeat(card.layers, card.heads),
                "head": np.tile(np.arange(card.heads), len(card.layers)),
                "score": values.ravel(),
                "rank": ranks(values if kind != PREVIEW else -values).ravel(),
                "member": (values < 0 if kind == PREVIEW else values >= view.state.role).ravel(),
            }
            frames.append(pd.DataFrame(rows))
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=_GATE_COLUMNS)
    for at, (name, value) in enumerate((("model", card.id), ("revision", card.revision), ("method", METHOD))):
        frame.insert(at, name, value)
    frame["threshold"] = view.state.role
    return _with_task_facts(frame, view.shown)


_KINDS = {letter: role for role, letter in LETTERS.items()} | {"g": PREVIEW}
_GATE_COLUMNS = ["item", "kind", "sample", "layer", "head", "score", "rank", "member"]


def _with_task_facts(frame: pd.DataFrame, scores: Scores) -> pd.DataFrame:
    """Every row with how its own task was fitted."""
    facts = scores.provenance
    frame["fingerprint"] = facts.model.fingerprint
    frame["method_version"] = facts.version
    told = pd.DataFrame({item["name"]: _facts_of(item, facts) for item in facts.items}).T
    for name in told.columns:
        frame[name] = frame["item"].map(told[name])
    return frame


def _facts_of(item: dict[str, Any], facts: Provenance) -> dict[str, Any]:
    """How a task was fitted, when, and to what."""
    settings = item.get("settings") or facts.settings
    updates = [settings[name] for name in ("free_updates", "push_updates") if name in settings]
    rates = [settings[name] for name in ("free_rate", "push_rate") if name in settings]
    return {
        "computed": item.get("computed", facts.date),
        **{name: settings.get(name) for name in ("seeds", "batch", "push", "clip")},
        "updates": "+".join(map(str, updates)),
        "rates": " ".join(f"{rate:g}" for pair in rates for rate in pair),
        "task_hash": item.get("hash", ""),
    }


@cached(8)
def scores_frame(scores: Scores) -> pd.DataFrame:
    """Everything in long format; not to be changed by those who get it."""
    names = [item["name"] for item in scores.provenance.items]
    if scores.provenance.method == METHOD:
        frame = scores.to_frame()
        return _with_task_facts(frame[frame["score"].notna()].reset_index(drop=True), scores)
    return _with_provenance(scores.to_frame(), scores, {name: [name] for name in names})


def _relations_of(panel: Panel, view: View) -> list[str]:
    """The relations that a panel's numbers are made of."""
    if view.state.relation:
        return [panel.key]
    return view.scores.items(None if panel.key == ALL else panel.key)


def _with_provenance(frame: pd.DataFrame, scores: Scores, relations: dict[str, list[str]]) -> pd.DataFrame:
    """Columns that say which weights, method and pairs, on every row: a CSV has no other place that readers keep."""
    facts = scores.provenance
    frame["fingerprint"] = facts.model.fingerprint
    frame["method_version"] = facts.version
    frame["computed"] = facts.date
    frame["k"] = frame["item"].map({name: _ks(scores, items) for name, items in relations.items()})
    frame["relation_hash"] = frame["item"].map({name: _hash(scores, items) for name, items in relations.items()})
    return frame


def _ks(scores: Scores, items: list[str]) -> str:
    return " ".join(map(str, sorted({scores.item(name)["k"] for name in items})))


def _hash(scores: Scores, items: list[str]) -> str:
    """The hash of a relation's pairs; of several relations, the hash of theirs."""
    hashes = sorted(scores.item(name)["hash"] for name in items)
    return hashes[0] if len(hashes) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest()[:16]


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


@cached(64)
def _view_csv(scores: Scores, causal: Scores | None, state: ViewState) -> bytes:
    return _csv(view_frame(View.of(state, scores, causal)))


def _view_parquet(view: View) -> bytes:
    table = pa.Table.from_pandas(view_frame(view), preserve_index=False)
    metadata = {
        b"head-atlas": view.shown.provenance.to_json().encode(),
        b"head-atlas-view": view.named.to_query().encode(),
    }
    sink = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), sink, compression="zstd")
    return sink.getvalue()


def view_picture(view: View, width: int = PICTURE_WIDTH, dark: bool = False) -> go.Figure:
    """The maps with title, legend and provenance, as they leave the page."""
    card = view.scores.provenance.model
    figure = head_maps(view.panels, view.state, card.layers, placed(view.panels, view.state, card, width), dark)
    return picture(go.Figure(figure), view.panels, view.state, view.shown.provenance, dark)


@cached(64)
def _figure_json(scores: Scores, causal: Scores | None, state: ViewState, dark: bool) -> str:
    content: str = view_picture(View.of(state, scores, causal), dark=dark).to_json()
    return content


def _page(view: View) -> bytes:
    """One file that opens without a network; the provenance is in it as JSON."""
    figure = view_picture(view, dark=view.state.theme == "dark")
    content = figure.to_html(include_plotlyjs=True, full_html=True, config={"displaylogo": False})
    facts = view.shown.provenance.to_json().replace("<", "\\u003c")
    extra = f'<title>{plain(view.title)}</title><script type="application/json" id="provenance">{facts}</script>'
    page: str = content.replace("<head>", f"<head>{extra}", 1)
    return page.encode()


def reproduce(view: View) -> str:
    """A script that computes this view again from the weights, and says whether they are the same ones."""
    if view.is_causal:
        return _reproduce_gates(view)
    facts, known = view.scores.provenance, builtin()
    card, settings = facts.model, facts.settings
    names = [item["name"] for item in facts.items]
    own = [name for name in names if name not in known]
    command = ["map", card.id, "--k", settings["k_standard"], "--k-copying", settings["k_copying"]]
    command += ["--revision", card.revision] if len(card.revision) == 40 else []
    command += [] if settings["first_mlp"] else ["--no-first-mlp"]
    command += ["--out", "scores.parquet"]
    command += [] if set(names) == set(known) else ["--relations", *(n if n in known else f"{n}.csv" for n in names)]
    categories = {category: view.scores.items(category) for category in view.scores.categories()}
    note = f"  # your own relations must be here: {[f'{name}.csv' for name in own]!r}" if own else ""
    return _SCRIPT.format(
        title=repr(view.title),
        address=repr("/" + view.named.to_query()),
        fingerprint=repr(card.fingerprint),
        command=repr([str(part) for part in command]),
        note=note,
        panels=repr({view.state.relation: [view.state.relation]} if view.state.relation else categories),
        kinds=repr(list(view.state.kinds)),
        how=repr("min" if view.state.how == "always" else "max"),
        tau=view.state.tau,
        top=view.state.top,
    )


def _reproduce_gates(view: View) -> str:
    card, causal = view.shown.provenance.model, view.causal
    items = _USUAL_GATES if causal is None else [causal.item(name) for name in shown_tasks(causal, view.state)]
    whole = view.shown.provenance.settings
    fits = [(item, dict(item.get("settings") or whole)) for item in items]
    if view.state.gates == PREVIEW:
        fits = [(item, {"seeds": 0}) for item in items]
    files = [f"{item['name']}.jsonl" for item in items if item["name"] not in builtin_tasks()]
    return _GATE_SCRIPT.format(
        title=repr(view.title),
        address=repr("/" + view.named.to_query()),
        fingerprint=repr(card.fingerprint),
        commands=repr([_gate_command(card, item, settings) for item, settings in fits]),
        settings=repr([{name: settings[name] for name in _USUAL_SETTINGS if name in settings} for _, settings in fits]),
        note=f"  # your own tasks and pairs must be here: {files!r}" if files else "",
        role=view.state.role,
    )


_USUAL_SETTINGS: dict[str, Any] = {**json.loads(json.dumps(asdict(GateSettings()))), "seeds": SEEDS}
_USUAL_GATES: list[dict[str, Any]] = [
    {"name": "math", "settings": _USUAL_SETTINGS},
    {"name": "syntax", "settings": _USUAL_SETTINGS},
]


def _gate_command(card: ModelCard, item: dict[str, Any], settings: dict[str, Any]) -> list[str]:
    """What computes one task again, as it was fitted."""
    settings = _USUAL_SETTINGS | settings
    if item.get("category") == "contrast":  # one stage: the numbers of the other are not looked at
        settings |= {"push_updates": settings["free_updates"], "push_rate": settings["free_rate"]}
    name = item["name"] if item["name"] in builtin_tasks() else f"{item['name']}.jsonl"
    if not settings["seeds"]:
        return ["gates", card.id, "--tasks", name, "--preview"]
    command = ["contrast", card.id, name] if item.get("category") == "contrast" else ["gates", card.id, "--tasks", name]
    command += ["--updates", str(settings["free_updates"]), str(settings["push_updates"])]
    command += ["--rates", *(str(rate) for rate in (*settings["free_rate"], *settings["push_rate"]))]
    for option in ("seeds", "batch", "push", "clip"):
        command += [f"--{option}", str(settings[option])]
    return command + (["--revision", card.revision] if len(card.revision) == 40 else [])


_GATE_SCRIPT = '''"""Compute a causal map again. Run it where Head Atlas is installed: python reproduce.py"""

import json
import subprocess
import sys

import pandas as pd
import pyarrow.parquet as pq

TITLE = {title}
ADDRESS = {address}
FINGERPRINT = {fingerprint}  # of the weights that the view was made from
COMMANDS = {commands}{note}
SETTINGS = {settings}  # of the fits that the view was made from

for number, (command, settings) in enumerate(zip(COMMANDS, SETTINGS)):
    out = f"gates-{{number}}.parquet"
    subprocess.run([sys.executable, "-m", "analysis", *command, "--out", out], check=True)
    facts = json.loads(pq.read_schema(out).metadata[b"head-atlas"])
    made_from = facts["model"]["fingerprint"]
    print("same weights" if made_from == FINGERPRINT else f"OTHER WEIGHTS: {{made_from}} instead of {{FINGERPRINT}}")
    other = {{name: facts["settings"].get(name) for name in settings if facts["settings"].get(name) != settings[name]}}
    print(f"OTHER SETTINGS: {{other}}" if other else "same settings")
    for item in facts["items"] if not settings["seeds"] else []:
        gradient = pd.DataFrame(item["preview"]["mean"], index=facts["model"]["layers"]).stack()
        print(item["title"], "preview, most helpful heads:", dict(gradient.nsmallest(10).round(4)))
    for (task, kind), found in pd.read_parquet(out).dropna(subset="score").groupby(["item", "kind"]):
        heads = found.groupby(["layer", "head"])["score"]
        always, some = heads.min() >= {role}, heads.max() >= {role}
        print(f"{{task}} {{kind}}: always {{always.mean():.1%}}, any {{some.mean():.1%}} of the heads")
'''


_SCRIPT = '''"""Compute a view of Head Atlas again. Run it where Head Atlas is installed: python reproduce.py"""

import json
import subprocess
import sys

import pandas as pd
import pyarrow.parquet as pq

TITLE = {title}
ADDRESS = {address}
FINGERPRINT = {fingerprint}  # of the weights that the view was made from
COMMAND = {command}{note}

subprocess.run([sys.executable, "-m", "analysis", *COMMAND], check=True)
made_from = json.loads(pq.read_schema("scores.parquet").metadata[b"head-atlas"])["model"]["fingerprint"]
print("same weights" if made_from == FINGERPRINT else f"OTHER WEIGHTS: {{made_from}} instead of {{FINGERPRINT}}")
scores = pd.read_parquet("scores.parquet")
for panel, items in {panels}.items():
    chosen = scores[scores["item"].isin(items) & scores["kind"].isin({kinds})]
    best = chosen.groupby(["item", "layer", "head"])["score"].max()  # the larger of the kinds
    value = best.groupby(["layer", "head"]).agg({how})
    above = value[value > {tau}].sort_values(ascending=False)
    if {top} and len(above) > {top}:
        above = above[above >= above.iloc[{top} - 1]]
    print(f"{{panel}}: {{len(above)}} heads above {tau}")
    print(above.head(10).to_string())
'''


def routes(library: Library) -> APIRouter:
    """The addresses of the exports; each takes the query string of a view."""
    router = APIRouter(prefix="/export", include_in_schema=False)
    kinds: dict[str, tuple[str, Callable[[View], bytes]]] = {
        "view.csv": ("text/csv; charset=utf-8", lambda view: _view_csv(view.scores, view.causal, view.state)),
        "scores.csv": ("text/csv; charset=utf-8", lambda view: _csv(scores_frame(view.shown))),
        "view.parquet": ("application/vnd.apache.parquet", _view_parquet),
        "scores.parquet": ("application/vnd.apache.parquet", lambda view: view.shown.to_parquet()),
        "page.html": ("text/html; charset=utf-8", _page),
        "reproduce.py": ("text/x-python; charset=utf-8", lambda view: reproduce(view).encode()),
    }
    for name, (media, make) in kinds.items():
        router.add_api_route(f"/{name}", _endpoint(library, name, media, make), methods=["GET"])

    def figure(request: Request) -> Response:
        query, dark = _split(request.url.query)
        view = open_view(library, query)
        return Response(_figure_json(view.scores, view.causal, view.state, dark), media_type="application/json")

    router.add_api_route("/figure.json", figure, methods=["GET"])
    return router


def _split(query: str) -> tuple[str, bool]:
    """The view's part of a figure's address, and whether it shall be dark."""
    parts = [part for part in query.split("&") if part and not part.startswith("dark=")]
    return "?" + "&".join(parts), "dark=1" in query.split("&")


def _endpoint(library: Library, name: str, media: str, make: Callable[[View], bytes]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        view = open_view(library, "?" + request.url.query)
        stem = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in view.state.model)
        headers: dict[str, Any] = {"Content-Disposition": f'attachment; filename="{stem}-{name}"'}
        return Response(make(view), media_type=media, headers=headers)

    return endpoint
