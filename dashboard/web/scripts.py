"""The page's scripts: where they are, how the page loads them, and the rules that the server hands them."""

import json
from os import PathLike, stat_result
from pathlib import Path
from typing import Any

import plotly
from dash.fingerprint import build_fingerprint
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from analysis.models.card import WRITTEN
from dashboard import palette
from dashboard.page.controls import control_props
from dashboard.page.table import ROW
from dashboard.query import settings_data
from dashboard.setting import MAX_PINS
from dashboard.state import LOOKED_AFTER, all_settings, view_names
from dashboard.web.bodies import MAX_UPLOAD

FOLDER = Path(__file__).parent.parent.parent / "assets" / "atlas"
URL = "/assets/atlas"
IGNORED = "^atlas$"  # Dash would load every module once more, under another address

# Dash starts when the functions that its callbacks name are there.
RENDERER = f"import('{URL}/main.mjs').then(({{ hooks }}) => {{ window.renderer = new DashRenderer(hooks); }});"


class Modules(StaticFiles):
    """The modules as files. The browser asks each time whether one has changed, so that all are of one version."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    def file_response(
        self, full_path: str | PathLike[str], stat_result: stat_result, scope: Any, status_code: int = 200
    ) -> Response:
        """A file, or that it has not changed."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = "no-cache"
        return response


def preloads() -> str:
    """A link for every module, so that the browser fetches all at once instead of one import after the other."""
    names = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.mjs"))
    return "\n".join(f'<link rel="modulepreload" href="{URL}/{name}">' for name in names)


def _held(key: str) -> dict[str, str]:
    """The property of its control that holds a setting's value; nothing where it has no control."""
    return {"prop": control_props()[key][1]} if key in control_props() else {}


def _plotly_url() -> str:
    """Where Dash serves plotly's script. The address names its version, so that a browser keeps it."""
    name = "package_data/plotly.min.js"
    changed = int((Path(plotly.__file__).parent / name).stat().st_mtime)
    return f"/_dash-component-suites/plotly/{build_fingerprint(name, plotly.__version__, changed)}"


def rules() -> dict[str, str]:
    """The tag with the rules for the scripts: limits, a head's name, settings, colours; `rules.mjs` describes them."""
    settings = [each for key, each in all_settings().items() if key not in LOOKED_AFTER]
    rules = {
        "pins": MAX_PINS,
        "head": WRITTEN.pattern,
        "upload": MAX_UPLOAD,
        "row": ROW,
        "plotly": _plotly_url(),
        "view": view_names()[0],
        "settings": [{**each, **_held(each["key"])} for each in settings_data(settings)],
        "palettes": palette.as_data(),
    }
    return {"name": "atlas-rules", "content": json.dumps(rules)}
