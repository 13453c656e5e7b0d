"""What the daemon serves over HTTP beside the calls, as one ASGI application."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Router
from starlette.types import Receive, Scope, Send

from coordroomsd.domain.errors import Refusal
from coordroomsd.http.guard import Guard
from coordroomsd.http.peers import PEER, origin_of
from coordroomsd.http.replies import send_refusal
from coordroomsd.live.refusals import Refusals

_PAGE = "/page/"
_PAGE_API = "/page/api/"


class Site:
    """`routes` may raise a Refusal before they have begun to answer."""

    def __init__(
        self, guard: Guard | None, routes: Sequence[BaseRoute], refusals: Refusals
    ) -> None:
        self._guard = guard
        self._refusals = refusals
        self._router = Router(routes, redirect_slashes=False, default=_nothing_there)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        peer = scope["extensions"][PEER]
        try:
            if self._guard:
                check = self._guard.check_visit if _is_visit(scope) else self._guard.check
                check(peer, scope["headers"])
            await self._router(scope, receive, send)
        except Refusal as refusal:
            asked = f"{scope['method']} beside the calls"
            self._refusals.note(refusal, asked, origin_of(peer), None)
            await send_refusal(send, refusal)


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
    raise Refusal("not_found", f"Nothing is served at {scope['path']}.")
