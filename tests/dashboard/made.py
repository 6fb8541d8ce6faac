"""What the tests of the page are made of: states by their fields, catalogues of a store, maps of scores, tables."""

import base64
from dataclasses import replace

import numpy as np

from analysis.evidence.catalogue import Catalogue
from dashboard.figures.view_figure import view_figure
from dashboard.maps import map_of
from dashboard.state import ViewState
from dashboard.view import View


def state(**fields):
    """The default state with other values, each by the name of its field."""
    return ViewState().changed(**fields)


def catalogue_of(store, engine=None):
    """What a page can show of a store."""
    return Catalogue(store, engine)


def view_of(scores, wanted=None):
    """A view of one result; the map of its method is on the page unless the state says otherwise."""
    method = scores.provenance.method
    wanted = wanted or state(view=method)
    wanted = replace(wanted, model=scores.provenance.model.id)
    return View(wanted, scores.provenance.model, ((method, scores),))


def map_view(scores, wanted=None):
    """The map of a result's method in such a view."""
    return view_of(scores, wanted).of(map_of(scores.provenance.method))


def rows_of(table):
    """The rows of a table as the scripts make them of what they are sent."""
    columns = {}
    for field, packed in table["cells"].items():
        kind = np.uint8 if len(packed["values"]) <= 256 else np.dtype("<u2")
        codes = np.frombuffer(base64.b64decode(packed["codes"]), kind)
        columns[field] = [packed["values"][code] for code in codes.tolist()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def figure_of(scores, wanted=None, dark=False, width=1240):
    """The maps of a result as a figure."""
    return view_figure(view_of(scores, wanted), width, dark)
