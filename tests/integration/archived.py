"""Databases with something of everything in them, and what is in a backup of one."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from coordroomsd.archives.backups import write_backup
from coordroomsd.archives.restores import BackupReader, Restored, restore
from coordroomsd.store import sessions
from coordroomsd.store.sessions import ConnectArguments
from tests.integration.daemons import Running

HARD_TEXT = "tab\there, line\nthere, \\N, \\., “ü”, 🜁, a quote ' and a NUL's name \\0"


@asynccontextmanager
async def session(
    address: ConnectArguments, settings: dict[str, str] = sessions.RESTORE_SETTINGS
) -> AsyncIterator[asyncpg.Connection]:
    connection = await sessions.connect(address, settings)
    try:
        yield connection
    finally:
        await connection.close()


async def fill(daemon: Running) -> None:
    """A row at least for every table."""
    ada, bob, cy = await daemon.room("plan", "ada", "bob", "cy")
    [asked] = await ada.say("plan", "why?", kind="question")
    answer = {"messages": [{"kind": "answer", "body": HARD_TEXT, "reply_to": asked}]}
    await bob.ok("POST", "/rooms/plan/messages", answer, idempotency_key="one")
    await bob.ok("PUT", f"/rooms/plan/messages/{asked}/reactions/ack")
    await cy.ok("PUT", f"/rooms/plan/messages/{asked}/reactions/fire")
    await ada.set_status("plan", "reading", 3600)
    await ada.claim("plan", "the draft", 3600, proposed_by_seq=asked)
    await cy.leave("plan")
    await bob.wait("plan", 2, timeout_s="0")
    opened = await ada.ok("POST", "/conversations", {"with": "bob"})
    note = {"kind": "note", "body": "between us"}
    path = f"/conversations/{opened['conversation']['id']}/messages"
    await ada.ok("POST", path, note, idempotency_key="two")
    for name in ("dora", "emil"):
        offer = {"name": name, "kind": "human", "role": "human"}
        code = (await daemon.operator.ok("POST", "/enrollments", offer))["code"]
    await daemon.operator.ok("POST", "/enroll", {"code": code})
    await daemon.index()


async def backed_up(address: ConnectArguments) -> bytes:
    output = io.BytesIO()
    async with session(address, sessions.BACKUP_SETTINGS) as connection:
        await write_backup(connection, output)
    return output.getvalue()


async def restored(
    backup: bytes, address: ConnectArguments, check: Callable[[], None] = lambda: None
) -> Restored:
    async with session(address) as connection:
        return await restore(BackupReader(io.BytesIO(backup)), connection, check)


def lines(backup: bytes) -> list[bytes]:
    return gzip.decompress(backup).splitlines(keepends=True)


def contents(backup: bytes) -> dict[str, Any]:
    """The rows of each table, in no order."""
    found: dict[str, set[bytes]] = {}
    for line in _without_head(backup):
        if line.startswith(b'{"table"'):
            rows = found.setdefault(json.loads(line)["table"], set())
        elif line != b"\\.\n":
            rows.add(line)
    return found


def _without_head(backup: bytes) -> Iterator[bytes]:
    yield from lines(backup)[1:-1]
