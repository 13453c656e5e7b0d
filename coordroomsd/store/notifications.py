"""LISTEN and NOTIFY: a word to whoever shares the database, on a session of its own.

NOTIFY takes a lock of the whole server at its commit, so it is never in the journal's transaction
(recall.ai, "Postgres LISTEN/NOTIFY does not scale", 2025).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

import asyncpg

from coordroomsd.store import sessions
from coordroomsd.store.database import CONNECTION_FAULTS, LONGEST_PAUSE_S, Database

logger = logging.getLogger(__name__)

CHANNEL: Final = "coordrooms"
# A network that swallows everything is noticed by an answer that does not come.
PING_EVERY_S: Final = 2.0
ANSWER_WITHIN_S: Final = 5.0
# While the session is away; the sweep tells the others.
_KEPT: Final = 100


class Notifications:
    """Belongs to the task that runs it; anybody may `send`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._outbox: deque[str] = deque(maxlen=_KEPT)
        self._filled = asyncio.Event()

    def send(self, texts: Iterable[str]) -> None:
        """Each less than 8000 bytes. They may be lost."""
        self._outbox.extend(texts)
        self._filled.set()

    async def run(self, heard: Callable[[str], None], connected: Callable[[], None]) -> None:
        """Runs until cancelled."""
        pause = 0.0
        while True:
            try:
                await self._listen(heard, connected)
            except CONNECTION_FAULTS as error:
                if not pause:
                    logger.warning("the session that listens is lost, trying again: %s", error)
            pause = min(LONGEST_PAUSE_S, pause * 2 or 0.01)
            await asyncio.sleep(pause)

    async def _listen(self, heard: Callable[[str], None], connected: Callable[[], None]) -> None:
        session = await self._database.connect(sessions.BUS_SETTINGS)
        try:
            await session.add_listener(CHANNEL, lambda _, __, ___, text: heard(str(text)))
            connected()
            while True:
                await self._send_or_ping(session)
        finally:
            session.terminate()

    async def _send_or_ping(self, session: asyncpg.Connection) -> None:
        try:
            async with asyncio.timeout(PING_EVERY_S):
                await self._filled.wait()
        except TimeoutError:
            await session.execute("SELECT 1", timeout=ANSWER_WITHIN_S)
            return
        self._filled.clear()
        texts = list(self._outbox)
        self._outbox.clear()
        await session.execute(
            "SELECT pg_notify($1, text) FROM unnest($2::text[]) AS text",
            CHANNEL,
            texts,
            timeout=ANSWER_WITHIN_S,
        )
