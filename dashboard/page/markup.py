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
        properties = _properties(piece)
        children = properties.pop("children", None)
        listed = children if isinstance(children, list) else [children]
        return [type(piece).__name__.lower(), properties, as_data(listed)]
    if isinstance(piece, (list, tuple)):
        return [as_data(part) for part in piece if part is not None]
    return str(piece)


def _properties(component: Component) -> dict[str, Any]:
    """What a component was given, with its data- and aria- attributes, which Dash does not declare."""
    declared = {name: getattr(component, name) for name in component._prop_names if hasattr(component, name)}
    others = {name: value for name, value in component.__dict__.items() if name.startswith(("data-", "aria-"))}
    return declared | others


_ATTRIBUTE = re.compile(
    r"aria-[a-z]+|data-[a-z]+|scope|title|role|href|id|name|value|type|placeholder|for|action|method|src|alt|label|width|height"
)
_CAPITAL = re.compile(r"[A-Z]")
_RENAMED = {"className": "class", "htmlFor": "for"}
_EMPTY = {"input", "br", "hr", "img"}


def as_html(piece: Any) -> str:
    """The same as HTML, for a page without Dash; whatever is text is escaped."""
    data = as_data(piece)
    if isinstance(data, str):
        return escape(data)
    if _is_element(data):
        return data_html(data)
    return "".join(data_html(part) for part in data)


def _is_element(data: list[Any]) -> bool:
    """Whether this is one component, [tag, properties, children], rather than a list of several pieces."""
    if len(data) != 3:
        return False
    tag, properties, _ = data
    return isinstance(tag, str) and isinstance(properties, dict)


def data_html(data: Any) -> str:
    """What `as_data` gave as HTML."""
    if isinstance(data, str):
        return escape(data)
    tag, properties, children = data
    attributes = "".join(_attribute(name, value) for name, value in properties.items())
    start = f"<{tag}{attributes}>"
    if tag in _EMPTY:
        return start
    content = "".join(data_html(child) for child in children)
    return f"{start}{content}</{tag}>"


def _hyphenated(match: re.Match[str]) -> str:
    """A capital in the name of a style as CSS writes it: borderColor is border-color."""
    return f"-{match[0].lower()}"


def _attribute(name: str, value: Any) -> str:
    shown = _RENAMED.get(name, name)
    if name == "style":
        rules = [f"{_CAPITAL.sub(_hyphenated, key)}:{part}" for key, part in value.items()]
        return f' style="{escape(";".join(rules))}"'
    if name in {"disabled", "hidden", "open", "selected"}:
        return f" {name}" if value else ""
    if shown in {"class", "for"} or _ATTRIBUTE.fullmatch(shown):
        return f' {shown}="{escape(str(value))}"'
    return ""
