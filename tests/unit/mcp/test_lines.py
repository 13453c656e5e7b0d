"""Lines from a stream."""

from __future__ import annotations

import asyncio

import pytest

from coordroomsd.mcp.lines import next_line

LIMIT = 64


def reader(*chunks: bytes, eof: bool = True) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LIMIT)
    for chunk in chunks:
        reader.feed_data(chunk)
    if eof:
        reader.feed_eof()
    return reader


@pytest.mark.parametrize("size", [LIMIT - 1, LIMIT])
async def test_a_line_up_to_the_limit_is_given_whole(size: int) -> None:
    lines = reader(b"x" * size + b"\r\n" * (size < LIMIT) + b"\n" * (size == LIMIT))
    assert await next_line(lines) == b"x" * size


@pytest.mark.parametrize("size", [LIMIT + 1, LIMIT * 2, LIMIT * 10 + 3])
async def test_a_longer_line_is_skipped_and_the_next_one_is_not(size: int) -> None:
    lines = reader(b"a\n" + b"x" * size + b"\nb\n")
    assert [await next_line(lines) for _ in range(3)] == [b"a", None, b"b"]


async def test_a_long_line_in_pieces_is_skipped_too() -> None:
    lines = reader(eof=False)
    waiting = asyncio.ensure_future(next_line(lines))
    for _ in range(10):
        await asyncio.sleep(0)
        lines.feed_data(b"x" * LIMIT)
    lines.feed_data(b"\nb\n")
    assert await waiting is None
    assert await next_line(lines) == b"b"


@pytest.mark.parametrize("rest", [b"", b"half a line", b"x" * LIMIT * 3])
async def test_the_end_is_an_end(rest: bytes) -> None:
    with pytest.raises(EOFError):
        await next_line(reader(rest))
