"""In front of everything the server answers: login, origin, size and headers."""

import math
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response

from dashboard.access import Access, AccessRole
from dashboard.state import ViewState
from dashboard.web.bodies import CALL, UPLOAD, Bodies, BodyLimits, BodyRefused, Message, Receive, TooLarge, refusal
from dashboard.web.logins import Logins, TooManyLogins

Scope = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_HOST = re.compile(r"[a-z0-9.-]+(:[0-9]+)?|\[[0-9a-f:.]+\](:[0-9]+)?", re.IGNORECASE)
_SAFE = {"GET", "HEAD", "OPTIONS"}
_OF_PROXIES = {"forwarded", "via", "x-real-ip"}
_BEHIND_A_PROXY = (
    "This request came through a proxy, and this server takes everybody for a person at its own machine. "
    "Start it with --public-url and the address that browsers see, and with --auth-file for analyses."
)
_LIVE = "/live/jobs"  # the one WebSocket that there is
_API = "/api/"
_UPLOADS = "/api/jobs"  # where analysts send files
_COMPUTING = ("/api/prompt", "/api/pairs")  # whatever the method
_ANALYSTS_ALONE = ("/api/jobs", "/api/models/", "/api/sets/")  # what is below changes by analysts alone
NO_ANALYST = "this server is read-only for you: analyses need the analyst role"


class Guard:
    """Lets a request through to the application, or answers it."""

    def __init__(self, app: App, access: Access, policy: str) -> None:
        self._app, self._access, self._policy = app, access, policy
        self._logins = Logins(access)
        self._bodies = Bodies()

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
            async with self._bodies.one(receive, _limits(scope, role)) as body:
                await self._app(scope, body.receive, self._with_headers(scope, send))
        except BodyRefused as error:
            await refusal(error)(scope, receive, self._with_headers(scope, send))

    async def _admitted(self, scope: Scope) -> tuple[AccessRole | None, Response | None]:
        """What the sender may do, and the answer if the request is refused."""
        headers = Headers(scope=scope)
        if not self._access.answers_to(_host(headers.get("host", ""))):
            return None, _words(scope, "This server does not answer to this name.", 400)  # rebinding
        if self._access.trusts_everybody and _is_forwarded(scope, headers):
            return None, _words(scope, _BEHIND_A_PROXY, 403)
        address = scope["client"][0] if scope.get("client") else ""
        try:
            role = await self._logins.role(headers.get("authorization"), address)
        except TooManyLogins as error:
            wait = {"Retry-After": str(math.ceil(error.seconds))}
            return None, _words(scope, "Too many wrong logins. Please wait.", 429, wait)
        return role, self._refusal(scope, headers, role)

    def _refusal(self, scope: Scope, headers: Headers, role: AccessRole | None) -> Response | None:
        if role is None:
            challenge = {"WWW-Authenticate": 'Basic realm="Head Atlas", charset="UTF-8"'}
            return _words(scope, "Please log in.", 401, challenge)
        if _does_something(scope) and not self._same_origin(headers):
            return JSONResponse({"detail": "this request comes from another site"}, 403)
        if scope["type"] == "websocket":
            return None if scope["path"] == _LIVE else PlainTextResponse("There is no such WebSocket.", 404)
        if role != "analyst" and scope["method"] not in _SAFE and scope["path"].startswith(_ANALYSTS_ALONE):
            return JSONResponse({"detail": NO_ANALYST}, 403)  # before a body is read
        length, limits = headers.get("content-length", "0"), _limits(scope, role)
        if not length.isdecimal() or int(length[:12]) > limits.bytes:
            return refusal(TooLarge(limits))
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


def _is_forwarded(scope: Scope, headers: Headers) -> bool:
    """Whether a proxy forwards this request: it says so, or speaks HTTP/1.0, nginx's default."""
    says_so = any(name in _OF_PROXIES or name.startswith("x-forwarded-") for name in headers)
    return says_so or scope.get("http_version") == "1.0"


def _limits(scope: Scope, role: AccessRole | None) -> BodyLimits:
    """How much a request may bring: files come from analysts, and pages by themselves send little."""
    return UPLOAD if role == "analyst" and scope["path"] == _UPLOADS else CALL


def _words(scope: Scope, text: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """A refusal as the API declares it, or as a page that a person reads."""
    if scope["path"].startswith(_API):
        return JSONResponse({"detail": text}, status, headers)
    return PlainTextResponse(text, status, headers)


def _does_something(scope: Scope) -> bool:
    """Whether a request may change or compute something: other sites cannot make a browser here send it."""
    return scope["type"] == "websocket" or scope["method"] not in _SAFE or scope["path"] in _COMPUTING


def _embedded(scope: Scope) -> bool:
    """Whether the requested page shows maps alone: no other page may be embedded in another site."""
    return bool(scope["path"] == "/" and ViewState.from_query(scope["query_string"].decode("latin-1")).state.embed)


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
