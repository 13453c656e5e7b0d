"""Everything that the daemon serves over HTTP, as one ASGI application."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from coordroomsd.domain.errors import Refusal
from coordroomsd.http.calls import BASE, Calls
from coordroomsd.http.replies import send_refusal


class Site:
    """Calls go straight to theirs: the router's share would be felt by a lone wait."""

    def __init__(self, calls: Calls, routes: Sequence[BaseRoute]) -> None:
        self._calls = calls
        self._router = Router(routes, redirect_slashes=False, default=_nothing_there)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        app: ASGIApp = self._calls if scope["path"].startswith(f"{BASE}/") else self._router
        await app(scope, receive, send)


async def _nothing_there(scope: Scope, receive: Receive, send: Send) -> None:
    await send_refusal(send, Refusal("not_found", f"Nothing is served at {scope['path']}."))
