"""Every request sees one state of the results, which are looked for once."""

from analysis.evidence.catalogue import one_look
from dashboard.web.bodies import Receive
from dashboard.web.guard import App, Scope, Send


class OneLook:
    """Answers each request from the results that there are when it first asks for them."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; a socket goes on for hours and looks every time."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        with one_look():
            return await self._app(scope, receive, send)
