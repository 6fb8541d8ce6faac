"""What browsers ask of Dash itself, checked before Dash sees it: its own answer to nonsense is a server error."""

import json
from collections.abc import Mapping
from typing import Any

from dash import Dash
from dash._utils import split_callback_id
from dash.fingerprint import check_fingerprint
from starlette.responses import JSONResponse

from dashboard.web.bodies import Message, Receive
from dashboard.web.guard import App, Scope, Send

_FILES = "/_dash-component-suites/"
_CALLBACK = "/_dash-update-component"
MAX_DEPTH = 100  # of values in values; Dash goes into them by recursion


class NoCallback(ValueError):
    """A body that no page of ours sends."""


class DashRequests:
    """Passes on what Dash understands: 404 for files that it does not have, 422 for calls that it does not know."""

    def __init__(self, app: App, dash: Dash) -> None:
        self._app, self._dash = app, dash

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if scope["path"].startswith(_FILES) and not self._has_file(scope["path"]):
            return await JSONResponse({"detail": "Not Found"}, 404)(scope, receive, send)
        if scope["path"] != _CALLBACK or scope["method"] != "POST":
            return await self._app(scope, receive, send)
        body = await _body(receive)
        try:
            _check(json.loads(body, parse_constant=_no_number), self._dash.callback_map)
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
            return await JSONResponse({"detail": f"this is no call of the page: {error}"[:200]}, 422)(
                scope, receive, send
            )
        return await self._app(scope, _again(body, receive), send)

    def _has_file(self, path: str) -> bool:
        package, _, name = path.removeprefix(_FILES).partition("/")
        path, _ = check_fingerprint(name)
        return path in self._dash.registered_paths.get(package, ())


def _check(call: Any, callbacks: Mapping[str, Any]) -> None:
    """Raise unless it is a call of a callback with the inputs and outputs that this one has."""
    _check_depth(call)
    json.dumps(call, ensure_ascii=False).encode()  # an unpaired surrogate has no UTF-8
    declared = callbacks.get(call["output"])
    if declared is None or declared.get("callback") is None:
        raise NoCallback("there is no such callback")
    for name in ("inputs", "state"):
        given = [{"id": one["id"], "property": one["property"]} for one in call.get(name, [])]
        if given != declared[name]:
            raise NoCallback(f"its {name} are others")
    if call.get("outputs") != split_callback_id(call["output"]):
        raise NoCallback("the outputs do not match this callback")
    if not all(isinstance(changed, str) for changed in call.get("changedPropIds", [])):
        raise NoCallback("what changed is no list of names")


def _check_depth(call: Any) -> None:
    level = [call]
    for _ in range(MAX_DEPTH):
        inside: list[Any] = []
        for one in level:
            if isinstance(one, list):
                inside += one
            elif isinstance(one, dict):
                inside += one.values()
        level = inside
    if level:
        raise NoCallback(f"values are nested in more than {MAX_DEPTH} others")


def _no_number(text: str) -> None:
    raise NoCallback(f"{text} is no number")


async def _body(receive: Receive) -> bytes:
    pieces = []
    more = True
    while more:
        message = await receive()
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(pieces)


def _again(body: bytes, receive: Receive) -> Receive:
    """The same body for the next one who asks."""
    sent = False

    async def receiving() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving
