"""What the Python rules make of a view, as plain values that can be compared with what the scripts make of it."""

import base64
from dataclasses import asdict
from typing import Any

import numpy as np

from dashboard.drawn import drawn_maps
from dashboard.maps import map_of, map_of_method
from dashboard.maps.legend import entries
from dashboard.state import ViewState
from dashboard.view import View


def view_of(scores, values: dict[str, Any], view: str = "") -> View:
    """One result or several under controls that say these values; the map of the first one's method is on the page."""
    results = scores if isinstance(scores, dict) else {scores.provenance.method: scores}
    first = next(iter(results.values())).provenance
    shown = map_of(view) if view else map_of_method(first.method)
    assert shown is not None
    read = ViewState.from_values({**values, "model": first.model.id, "view": shown.name})
    assert not read.notices
    return View(read.state, first.model, tuple(results.items()))


def asked_by(key: str) -> dict[str, Any]:
    """The state by which the numbers of a table stand under a key: of a seed or basis, with behaviour or not."""
    asked: dict[str, Any] = {"also": True} if key.startswith("also") else {}
    rest = key.removeprefix("also").strip()
    if rest:
        asked["basis" if rest in {"function", "running"} else "seed"] = rest
    return asked


def rendered(view: View, dark: bool) -> dict[str, Any]:
    """Everything that follows the controls."""
    shown = view.shown
    assert shown is not None
    drawn = drawn_maps(view, dark)
    counts = view.map.counts(shown, drawn.palette)
    panels = []
    for panel, look, beside in zip(view.panels, drawn.looks, drawn.profiles, strict=True):
        marks = np.zeros_like(look.codes) if look.marks is None else look.marks
        panels.append(
            {
                "key": panel.key,
                "title": panel.title,
                "note": panel.note,
                "codes": look.codes.tolist(),
                "marks": marks.tolist(),
                "colours": colours_of(look),
                "ground": look.ground,
                "labels": labels_of(panel.label),
                "besides": labels_of(panel.besides),
                "profile": profile_of(beside),
            }
        )
    return {
        "panels": panels,
        "sentence": text_of(view.map.said(shown)),
        "legend": [entry.to_plain() for entry in entries(shown, dark)],
        "topic": view.map.topic(shown),
        "idle": view.map.idle(shown),
        "called": view.map.called(shown),
        "best": best_of(view.map.best(shown)),
        "counts": {"caption": counts.caption, "rows": [list(row) for row in counts.rows]} if counts else None,
        "shares": [asdict(table) for table in view.map.shares(shown, drawn.palette)],
        "layers": profile_of(view.map.layers(shown, drawn.palette)),
    }


def compared(view: View, dark: bool) -> dict[str, Any] | None:
    """The figure that compares two results of a view; None where there is none."""
    shown = view.shown
    assert shown is not None
    content = view.map.contents(shown, 1000, dark).get("scatter")
    if content is None:
        return None
    figure = content.draw()
    (points,) = figure["data"]
    return {
        "names": points["customdata"],
        "x": unpacked(points["x"]),
        "y": unpacked(points["y"]),
        "tone": points["meta"]["tone"],
        "colour": points["marker"]["color"],
        "tau": figure["layout"]["shapes"][1]["x0"],
    }


def unpacked(array: dict[str, str]) -> list[float]:
    """The numbers of a figure, without what single precision adds."""
    numbers = np.frombuffer(base64.b64decode(array["bdata"]), f"<{array['dtype']}")
    return [round(float(number), 6) for number in numbers]


def colours_of(look) -> list[list[str]]:
    """The colour of every cell."""
    return [[look.shades[code] for code in row] for row in look.codes.tolist()]


def labels_of(label) -> list[list[str]] | None:
    """What every head is called, or what is said besides."""
    if label is None:
        return None
    return [[label.words[code] for code in row] for row in label.codes.tolist()]


def profile_of(beside) -> dict[str, Any] | None:
    """Shares in thousandths, which both languages round alike."""
    if beside is None:
        return None
    shares = [[round(1000 * float(share)) for share in row] for row in beside.shares]
    return {"names": list(beside.names), "colours": list(beside.colours), "shares": shares, "signed": beside.signed}


def text_of(said) -> str:
    """A sentence as one text; what stands out is between stars."""
    return "".join(piece if isinstance(piece, str) else "*" + "".join(piece.values()) + "*" for piece in said)


def best_of(best) -> list[list[str]] | None:
    """What every head does best, in words."""
    if best is None:
        return None
    lines: list[list[str]] = []
    for head in range(best.item[0].size):
        mine = []
        for place in range(len(best.item)):
            item, verb, score = (array[place].ravel()[head] for array in (best.item, best.verb, best.score))
            if score > 0:
                low, high = (int(100 * array[place].ravel()[head] + 0.5) for array in (best.low, best.high))
                remark = best.remarks[best.remark[place].ravel()[head]]
                said = f", {remark}" if remark else ""
                mine.append(f"{best.verbs[verb]} {best.titles[item]} {int(1e6 * score + 0.5)} ({low}–{high}){said}")
        lines.append(mine)
    return lines
