"""/mcp: the tools over streamable HTTP, behind the same credentials as the calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from coordroomsd.api.callers import Caller
from coordroomsd.http.credentials import Tokens, identify
from coordroomsd.http.peers import PEER


class Tools:
    """`serve` answers one request of a caller; it may raise Refusal before it has begun to."""

    def __init__(
        self, tokens: Tokens, serve: Callable[[Caller, Scope, Receive, Send], Awaitable[None]]
    ) -> None:
        self._tokens = tokens
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        authorization = Headers(scope=scope).get("authorization")
        caller = identify(scope["extensions"][PEER], authorization, self._tokens)
        await self._serve(caller, scope, receive, send)
