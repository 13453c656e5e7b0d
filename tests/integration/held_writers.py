"""Holding the journal between a commit and what it does next."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg

from coordroomsd.store.database import Database


class HeldWriter:
    """The write session of a database, in the journal's hands from now on.

    `statements` are the write statements that were made. While `hold` is in force a statement is
    committed and the journal does not learn of it yet.
    """

    def __init__(self, database: Database) -> None:
        self._writer: asyncpg.Connection = database.writer
        self.statements: list[str] = []
        self._free = asyncio.Event()
        self._free.set()
        self._committed = asyncio.Event()
        database.writer = self

    def hold(self) -> None:
        self._free.clear()
        self._committed.clear()

    async def committed(self) -> None:
        """Returns when a statement is committed that is held."""
        await self._committed.wait()

    def release(self) -> None:
        self._free.set()

    async def fetchval(self, sql: str, *arguments: Any, **options: Any) -> Any:
        result = await self._writer.fetchval(sql, *arguments, **options)
        if "batch_ AS" in sql:
            self.statements.append(sql)
            self._committed.set()
            await self._free.wait()
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)
