"""The servers that a URL names: connecting to the first that may be written to.

asyncpg tries them one after the other within one time limit: a machine that has vanished, and so
neither answers nor refuses, would use up all of it each time, and the promoted standby behind it
in the list would never be asked.
"""

from __future__ import annotations

import asyncio
import functools
import re
import socket
from collections.abc import Sequence
from typing import Any, Final

import asyncpg

# Long enough for a server that is there and near, so that the order in the URL is kept.
HEAD_START_S: Final = 0.5

# A machine that has vanished acknowledges nothing that was sent to it and answers no probe; of one
# that is only slow the kernel does both. And connecting anew costs next to nothing.
_VANISHED: Final = {
    "TCP_USER_TIMEOUT": 5_000,  # milliseconds
    "TCP_KEEPIDLE": 2,
    "TCP_KEEPINTVL": 1,
    "TCP_KEEPCNT": 3,
}

# It starts or recovers; or has no place free; or its socket's queue, which is twice as long as it
# has places, is full, as after many cancelled queries: each is a connection of its own.
PASSING: Final = (
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    BlockingIOError,
)

# A URL whose parts can be told apart for certain. In one with a stray sign of the syntax, the
# password could be anywhere.
URL: Final = re.compile(
    r"postgres(?:ql)?://(?:[^/?#@]*@)?(?P<hosts>(?:[\w.\-]*|\[[0-9a-fA-F:.]+\])"
    r"(?::\d+)?(?:,(?:[\w.\-]*|\[[0-9a-fA-F:.]+\])(?::\d+)?)*)"
    r"(?:/(?P<database>[\w.\-%]*))?(?:\?(?P<query>[^#@]*))?"
)


async def connect(dsn: str | None = None, **options: Any) -> asyncpg.Connection:
    """`asyncpg.connect`, to each host of the URL, with a head start for those before it."""
    connection = await _first([None] if dsn is None else one_host_each(dsn), options)
    _notice_a_vanished_machine(connection)
    return connection


def one_host_each(url: str) -> list[str]:
    """The URL, once with each of its hosts."""
    match = URL.fullmatch(url)
    if match is None or "," not in match["hosts"]:
        return [url]
    begin, end = match.span("hosts")
    return [url[:begin] + host + url[end:] for host in match["hosts"].split(",")]


async def _first(urls: Sequence[str | None], options: dict[str, Any]) -> asyncpg.Connection:
    """The first connection that is made; raises what tells most of why none is."""
    if len(urls) == 1:
        return await asyncpg.connect(urls[0], **options)
    attempts: list[asyncio.Task[asyncpg.Connection]] = []
    chosen: asyncpg.Connection | None = None
    try:
        for url in urls:
            attempts.append(asyncio.create_task(asyncpg.connect(url, **options)))
            is_last = len(attempts) == len(urls)
            chosen = await _made(attempts, None if is_last else HEAD_START_S)
            if chosen is not None:
                return chosen
        raise min(filter(None, map(asyncio.Task.exception, attempts)), key=_telling)
    finally:
        # Nothing is awaited here: whoever is cancelled meanwhile would lose the chosen one, open.
        for attempt in attempts:
            attempt.cancel()
            attempt.add_done_callback(functools.partial(_let_go, chosen))


def _let_go(chosen: asyncpg.Connection | None, attempt: asyncio.Task[asyncpg.Connection]) -> None:
    if attempt.cancelled() or attempt.exception() is not None:
        return
    if attempt.result() is not chosen:
        attempt.result().terminate()


async def _made(
    attempts: Sequence[asyncio.Task[asyncpg.Connection]], within_s: float | None
) -> asyncpg.Connection | None:
    """The connection of one of them; None when all have failed, or it takes longer."""
    loop = asyncio.get_running_loop()
    deadline = None if within_s is None else loop.time() + within_s
    while True:
        for attempt in attempts:
            if attempt.done() and attempt.exception() is None:
                return attempt.result()
        pending = [attempt for attempt in attempts if not attempt.done()]
        left = None if deadline is None else deadline - loop.time()
        if not pending or (left is not None and left <= 0):
            return None
        await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_COMPLETED)


def _telling(error: BaseException) -> int:
    """Less of what tells more: a server that refuses us tells more than one that is not there."""
    kinds = (PASSING, asyncpg.PostgresError, asyncpg.TargetServerAttributeNotMatched, Exception)
    return next(rank for rank, kind in enumerate(kinds) if isinstance(error, kind))


def _notice_a_vanished_machine(connection: asyncpg.Connection) -> None:
    """asyncpg has no option for it; by itself a kernel goes on sending for a quarter of an hour."""
    socket_of_it = connection._transport.get_extra_info("socket")
    if socket_of_it.family == socket.AF_UNIX:
        return
    socket_of_it.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _VANISHED.items():
        if (option := getattr(socket, name, None)) is not None:  # macOS lacks some
            socket_of_it.setsockopt(socket.IPPROTO_TCP, option, value)
