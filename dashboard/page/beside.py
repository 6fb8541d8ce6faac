"""What the pages beside the maps share: their header, and what their forms tell the scripts."""

import json

from dash import html

from analysis.models.card import ModelCard
from dashboard.addresses import map_address
from dashboard.page.head_page import copy_button, search_form
from dashboard.query import settings_data
from dashboard.setting import settings_of


def header(card: ModelCard) -> html.Header:
    """A way back to the maps, a search of the model's heads, and the address to copy."""
    return html.Header(
        [
            html.A("Head Atlas", href="/", className="brand"),
            html.A("Maps", href=map_address(card), className="button"),
            html.Div(className="spring"),
            search_form(card),
            copy_button(),
        ],
        className="top",
    )


def settings_of_form(kind: type) -> dict[str, str]:
    """The attribute of a form that tells the scripts how what it says stands in the address."""
    return {"data-settings": json.dumps(settings_data(settings_of(kind).values()))}
