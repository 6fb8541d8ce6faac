"""Large pieces of the page as plain data, which a script turns into elements, or as HTML.

Dash keeps books about every component on the page, and the time that takes grows with the square of their number: a few
thousand of them stop the browser for seconds. The inspector's cards have that many.
"""

import re
from html import escape
from typing import Any

from dash.development.base_component import Component


def as_data(piece: Any) -> Any:
    """A component and all within it, as [tag, properties, children]; text stays text."""
    if isinstance(piece, Component):
        fields = {name: getattr(piece, name) for name in piece._prop_names if hasattr(piece, name)}
        fields |= {name: value for name, value in piece.__dict__.items() if name.startswith(("data-", "aria-"))}
        children = fields.pop("children", None)
        return [type(piece).__name__.lower(), fields, as_data(children if isinstance(children, list) else [children])]
    if isinstance(piece, (list, tuple)):
        return [as_data(part) for part in piece if part is not None]
    return str(piece)


_ATTRIBUTE = re.compile(
    r"aria-[a-z]+|data-[a-z]+|scope|title|role|href|id|name|value|type|placeholder|for|action|method|src|alt|label"
)
_CAPITAL = re.compile(r"[A-Z]")
_RENAMED = {"className": "class", "htmlFor": "for"}
_EMPTY = {"input", "br", "hr", "img"}


def as_html(piece: Any) -> str:
    """The same as HTML, for a page without Dash; whatever is text is escaped."""
    data = as_data(piece)
    if isinstance(data, str):
        return escape(data)
    if not data or not isinstance(data[0], str) or len(data) != 3 or not isinstance(data[1], dict):
        return "".join(data_html(part) for part in data)
    return data_html(data)


def data_html(data: Any) -> str:
    """What `as_data` gave as HTML."""
    if isinstance(data, str):
        return escape(data)
    tag, properties, children = data
    attributes = "".join(_attribute(name, value) for name, value in properties.items())
    if tag in _EMPTY:
        return f"<{tag}{attributes}>"
    return f"<{tag}{attributes}>{''.join(data_html(child) for child in children)}</{tag}>"


def _hyphenated(match: re.Match[str]) -> str:
    """A capital in the name of a style as CSS writes it: borderColor is border-color."""
    return f"-{match[0].lower()}"


def _attribute(name: str, value: Any) -> str:
    shown = _RENAMED.get(name, name)
    if name == "style":
        css = ";".join(f"{_CAPITAL.sub(_hyphenated, key)}:{part}" for key, part in value.items())
        return f' style="{escape(css)}"'
    if name in {"disabled", "hidden", "open", "selected"}:
        return f" {name}" if value else ""
    if shown in {"class", "for"} or _ATTRIBUTE.fullmatch(shown):
        return f' {shown}="{escape(str(value))}"'
    return ""
