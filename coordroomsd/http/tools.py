"""/mcp: the tools over streamable HTTP, behind the same credentials as the calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from coordroomsd.api.callers import Caller
from coordroomsd.http.credentials import Tokens, identify
from coordroomsd.http.peers import PEER
from coordroomsd.http.requests import MAX_REQUEST_BYTES


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
        whole = await _whole(receive) if scope["method"] == "POST" else receive
        if whole is not None:
            await self._serve(caller, scope, whole, send)


async def _whole(receive: Receive) -> Receive | None:
    """The same body once it is all there, or too large; None of a caller that goes away before.

    The SDK would take that for a fault of its own.
    """
    messages: deque[Message] = deque()
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        messages.append(message)
        size += len(message.get("body", b""))
        if not message.get("more_body", False) or size > MAX_REQUEST_BYTES:
            break

    async def again() -> Message:
        return messages.popleft() if messages else await receive()

    return again
