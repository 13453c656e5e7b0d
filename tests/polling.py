"""Waiting for what another process does, where there is nothing to be told by."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Final

# Only how long a broken program holds up the suite; nothing that works comes near it.
GIVE_UP_AFTER_S: Final = 60
_LOOK_EVERY_S: Final = 0.005


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Return as soon as `condition` holds."""
    async with asyncio.timeout(GIVE_UP_AFTER_S):
        while True:
            result = condition()
            if await result if inspect.isawaitable(result) else result:
                return
            await asyncio.sleep(_LOOK_EVERY_S)


def block_until(condition: Callable[[], object], complaint: Callable[[], str] = str) -> None:
    """The same without a loop. `complaint` is asked for when it never comes to hold."""
    deadline = time.monotonic() + GIVE_UP_AFTER_S
    while not condition():
        assert time.monotonic() < deadline, complaint()
        time.sleep(_LOOK_EVERY_S)
