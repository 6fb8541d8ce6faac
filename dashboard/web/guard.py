"""In front of everything the server answers: login, origin, size and headers."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response

from dashboard.access import Access, AccessRole
from dashboard.state import ViewState
from dashboard.web.logins import Logins, TooManyLogins

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_UPLOAD = 5_000_000  # characters of one file
MAX_BODY = 6_000_000  # bytes of any request: a file and what is around it
MAX_VALUES = 500_000  # in a body: a file of as many pairs as are taken has fewer, and reading more would take long
MAX_SECONDS = 60.0  # for a body to arrive
_HOST = re.compile(r"[a-z0-9.-]+(:[0-9]+)?|\[[0-9a-f:.]+\](:[0-9]+)?", re.IGNORECASE)
_SAFE = {"GET", "HEAD", "OPTIONS"}
_BEFORE_A_VALUE = (b",", b"[", b"{")  # every value of JSON but the first stands behind one, or is that of a key


class TooLarge(Exception):
    """A body went over the limit while it arrived."""

    status = 413


class TooSlow(Exception):
    """A body took longer than it may."""

    status = 408


class Guard:
    """Lets a request through to the application, or answers it."""

    def __init__(self, app: App, access: Access, policy: str) -> None:
        self._app, self._access, self._policy = app, access, policy
        self._logins = Logins(access)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] not in {"http", "websocket"}:
            return await self._app(scope, receive, send)
        role, refused = await self._admitted(scope)
        if refused is not None:
            if scope["type"] == "websocket":
                return await send({"type": "websocket.close", "code": 4403})
            await refused(scope, receive, self._with_headers(scope, send))
            return None
        scope.setdefault("state", {})["role"] = role
        if scope["type"] == "websocket":
            return await self._app(scope, receive, send)
        try:
            await self._app(scope, _limited(receive), self._with_headers(scope, send))
        except (TooLarge, TooSlow) as error:
            await refusal(error)(scope, receive, self._with_headers(scope, send))

    async def _admitted(self, scope: Scope) -> tuple[AccessRole | None, Response | None]:
        """What the sender may do, and the answer if the request is refused."""
        headers = Headers(scope=scope)
        if not self._access.answers_to(_host(headers.get("host", ""))):
            return None, PlainTextResponse("This server does not answer to this name.", 400)  # rebinding
        address = scope["client"][0] if scope.get("client") else ""
        try:
            role = await self._logins.role(headers.get("authorization"), address)
        except TooManyLogins as error:
            wait = {"Retry-After": str(math.ceil(error.seconds))}
            return None, PlainTextResponse("Too many wrong logins. Please wait.", 429, wait)
        return role, self._refusal(scope, headers, role)

    def _refusal(self, scope: Scope, headers: Headers, role: AccessRole | None) -> Response | None:
        if role is None:
            challenge = {"WWW-Authenticate": 'Basic realm="Head Atlas", charset="UTF-8"'}
            return PlainTextResponse("Please log in.", 401, challenge)
        if (scope["type"] == "websocket" or scope["method"] not in _SAFE) and not self._same_origin(headers):
            return JSONResponse({"error": "OtherOrigin", "message": "this request comes from another site"}, 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > MAX_BODY:
            return refusal(TooLarge())
        return None

    def _same_origin(self, headers: Headers) -> bool:
        """Browsers say where a request comes from; scripts say nothing and carry no one's cookies."""
        site = headers.get("sec-fetch-site")
        if site is not None and site not in {"same-origin", "none"}:
            return False
        origin = headers.get("origin")
        if origin is None or origin.partition("://")[2] == headers.get("host"):
            return True
        return bool(self._access.public_url) and origin == self._access.public_url

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        by = "*" if _embedded(scope) else "'self'"
        policy = f"{self._policy}; connect-src 'self'{self._sockets(scope)}; frame-ancestors {by}"

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", policy)
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
                headers["Permissions-Policy"] = "camera=(), microphone=(), geolocation=()"
            await send(message)

        return sending

    def _sockets(self, scope: Scope) -> str:
        """Where the page may open a WebSocket: here; to some browsers 'self' does not say that."""
        host = Headers(scope=scope).get("host", "")
        hosts = {host, self._access.public_url.partition("://")[2]}
        return "".join(f" ws://{name} wss://{name}" for name in sorted(hosts) if _HOST.fullmatch(name))


def _embedded(scope: Scope) -> bool:
    """Whether the page that is asked for shows maps alone: no other may stand in a page of somebody else."""
    return bool(scope["path"] == "/" and ViewState.from_query(scope["query_string"].decode("latin-1")).state.embed)


def refusal(error: TooLarge | TooSlow) -> JSONResponse:
    """The answer to a body that was not read to its end."""
    if isinstance(error, TooSlow):
        words = ("TooSlow", "the upload took too long", "Send less, or over a faster line.")
    else:
        most = f"{MAX_BODY // 1_000_000} MB and {MAX_VALUES:,} values"
        words = ("TooLarge", f"at most {most} are taken", "Send fewer pairs.")
    return JSONResponse(dict(zip(("error", "message", "hint"), words, strict=True)), error.status)


def _limited(receive: Receive) -> Receive:
    """The same messages, as long as their bodies together stay below the limits and arrive in time."""
    taken, values, arrived, end = 0, 0, False, asyncio.get_running_loop().time() + MAX_SECONDS

    async def receiving() -> Message:
        nonlocal taken, values, arrived
        try:
            async with asyncio.timeout_at(None if arrived else end):
                message = await receive()
        except TimeoutError as error:
            raise TooSlow from error
        arrived = not message.get("more_body", False)
        body = message.get("body", b"")
        taken += len(body)
        values += sum(body.count(sign) for sign in _BEFORE_A_VALUE)
        if taken > MAX_BODY or values > MAX_VALUES:
            raise TooLarge
        return message

    return receiving


def _host(header: str) -> str:
    """The name in a Host header, without its port."""
    name = header.rsplit(":", 1)[0] if not header.endswith("]") else header
    return name.lower()


def policy(script_hashes: list[str]) -> str:
    """The content security policy: everything from here; styles inline, because the components write them so."""
    scripts = " ".join(["'self'", *script_hashes])
    return (
        f"default-src 'self'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; "
        "base-uri 'none'; form-action 'self'"
    )
