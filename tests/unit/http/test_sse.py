"""What goes out of a stream that is refused, or fails on its way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from coordroomsd.api.streaming import Stream
from coordroomsd.domain.errors import Refusal
from coordroomsd.http.exchanges import Exchange
from coordroomsd.http.replies import Header
from coordroomsd.http.sse import send_stream


class Failing:
    """A stream that has `chunks`, and then its fault."""

    def __init__(self, fault: Exception, *chunks: bytes) -> None:
        self._fault = fault
        self._chunks = chunks

    async def run(
        self, emit: Callable[[bytes], Awaitable[None]], ready: Callable[[], Awaitable[None]]
    ) -> None:
        for chunk in self._chunks:
            await emit(chunk)
        raise self._fault


class Recording:
    """An exchange that keeps what goes out; the empty chunk is the end."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.headers: dict[bytes, bytes] = {}

    async def begin_stream(self, headers: list[Header]) -> None:
        assert not self.headers
        self.headers = dict(headers)

    async def until_writable(self) -> None: ...

    async def stream(self, chunk: bytes) -> None:
        assert self.headers
        self.sent.append(chunk)

    def end_stream(self) -> None:
        self.sent.append(b"")


async def sent(stream: Failing) -> Recording:
    exchange = Recording()
    await send_stream(cast(Exchange, exchange), cast(Stream, stream))
    return exchange


async def test_a_refusal_comes_before_anything_is_sent() -> None:
    with pytest.raises(Refusal, match="too_many_waiters"):
        await sent(Failing(Refusal("too_many_waiters", "Full.")))


async def test_a_database_that_goes_away_ends_it(caplog: pytest.LogCaptureFixture) -> None:
    exchange = await sent(Failing(OSError("gone"), b"one", b"two"))
    assert exchange.headers[b"content-type"] == b"text/event-stream"
    assert exchange.sent == [b"one", b"two", b""]
    assert "gone" in caplog.text
