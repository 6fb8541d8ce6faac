"""Large pieces of the page as plain data, which a script turns into elements.

Dash keeps books about every component on the page, and the time that takes grows with the square of their number: a few
thousand of them stop the browser for seconds. The inspector's cards have that many.
"""

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
