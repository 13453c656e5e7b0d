"""How long callers wait for the journal."""

from __future__ import annotations

import asyncio
from typing import Final, TypeVar

from coordroomsd.domain.errors import Refusal

# For a database that is away: longer than a crash recovery, shorter than a client's patience.
PATIENCE_S: Final = 8.0

T = TypeVar("T")


async def answered(future: asyncio.Future[T]) -> T:
    """Its result; a caller that goes away, or loses its patience, leaves a future that is done."""
    patience = asyncio.get_running_loop().call_later(PATIENCE_S, _give_up, future)
    try:
        return await future
    finally:
        patience.cancel()


def _give_up(future: asyncio.Future[T]) -> None:
    if not future.done():
        future.set_exception(
            Refusal(
                "store_unavailable",
                f"The database has not answered for {PATIENCE_S:g} s; the call may yet be stored.",
            )
        )
