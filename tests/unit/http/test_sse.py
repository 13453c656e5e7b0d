"""What goes out of a stream that is refused, or fails on its way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from coordroomsd.api.streaming import Stream
from coordroomsd.domain.errors import Refusal
from coordroomsd.http.sse import send_stream


class Failing:
    """A stream that has `chunks`, and then its fault."""

    def __init__(self, fault: Exception, *chunks: bytes) -> None:
        self._fault = fault
        self._chunks = chunks

    async def run(self, emit: Callable[[bytes], Awaitable[None]]) -> None:
        for chunk in self._chunks:
            await emit(chunk)
        raise self._fault


async def sent(stream: Failing) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        messages.append(message)

    await send_stream(send, cast(Stream, stream))
    return messages


async def test_a_refusal_comes_before_anything_is_sent() -> None:
    with pytest.raises(Refusal, match="too_many_waiters"):
        await sent(Failing(Refusal("too_many_waiters", "Full.")))


async def test_a_database_that_goes_away_ends_it(caplog: pytest.LogCaptureFixture) -> None:
    start, first, second, end = await sent(Failing(OSError("gone"), b"one", b"two"))
    assert start["status"] == 200
    assert (first["body"], second["body"]) == (b"one", b"two")
    assert (first["more_body"], second["more_body"]) == (True, True)
    assert end == {"type": "http.response.body", "body": b""}
    assert "gone" in caplog.text
