"""What the daemon serves over HTTP beside the calls, as one ASGI application."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Router
from starlette.types import Receive, Scope, Send

from coordroomsd.domain.errors import Refusal
from coordroomsd.http.guard import Guard
from coordroomsd.http.peers import PEER
from coordroomsd.http.replies import send_refusal

_PAGE = "/page/"
_PAGE_API = "/page/api/"


class Site:
    def __init__(self, guard: Guard | None, routes: Sequence[BaseRoute]) -> None:
        self._guard = guard
        self._router = Router(routes, redirect_slashes=False, default=_nothing_there)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if self._guard:
            try:
                check = self._guard.check_visit if _is_visit(scope) else self._guard.check
                check(scope["extensions"][PEER], scope["headers"])
            except Refusal as refusal:
                await send_refusal(send, refusal)
                return
        await self._router(scope, receive, send)


def _is_visit(scope: Scope) -> bool:
    """Whether somebody follows a link to the page, from wherever; its shell is the same for all."""
    return (
        scope["method"] == "GET"
        and scope["path"].startswith(_PAGE)
        and not scope["path"].startswith(_PAGE_API)
        and (b"sec-fetch-mode", b"navigate") in scope["headers"]
        and (b"sec-fetch-dest", b"document") in scope["headers"]
    )


async def _nothing_there(scope: Scope, receive: Receive, send: Send) -> None:
    await send_refusal(send, Refusal("not_found", f"Nothing is served at {scope['path']}."))
