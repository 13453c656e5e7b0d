"""What the daemon serves over HTTP beside the calls, as one ASGI application."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Router
from starlette.types import Receive, Scope, Send

from coordroomsd.domain.errors import Refusal
from coordroomsd.http.guard import Guard
from coordroomsd.http.peers import PEER
from coordroomsd.http.replies import send_refusal


class Site:
    def __init__(self, guard: Guard | None, routes: Sequence[BaseRoute]) -> None:
        self._guard = guard
        self._router = Router(routes, redirect_slashes=False, default=_nothing_there)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if self._guard:
            try:
                self._guard.check(scope["extensions"][PEER], scope["headers"])
            except Refusal as refusal:
                await send_refusal(send, refusal)
                return
        await self._router(scope, receive, send)


async def _nothing_there(scope: Scope, receive: Receive, send: Send) -> None:
    await send_refusal(send, Refusal("not_found", f"Nothing is served at {scope['path']}."))
