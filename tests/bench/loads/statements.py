"""The floor of batches: the journal's own write statement, again and again, with nothing around it.

The rows are made before the clock runs. Messages a second.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import asyncpg

from coordroomsd.domain.events import Event, Message
from coordroomsd.domain.participants import Author
from coordroomsd.domain.rooms import Room
from coordroomsd.store.rows import Rows
from coordroomsd.store.sessions import WRITE_SETTINGS
from coordroomsd.store.writer import write_statement
from tests.bench.loads import loops
from tests.bench.loads.talk import asked, say

ROOM = 1


async def _main(ask: Any) -> None:
    """The database has one room and one member in it."""
    connection = await asyncpg.connect(ask["url"], server_settings=WRITE_SETTINGS)
    head = await connection.fetchval("SELECT latest_seq FROM rooms WHERE id = $1", ROOM)
    batch = await connection.fetchval("SELECT batch FROM journal")
    statements = []
    for number in range(ask["count"]):
        first = head + number * ask["messages"]
        statements.append(write_statement(_rows(first, ask), batch + number + 1))
    began = time.perf_counter()
    for sql, arguments in statements:
        await connection.fetchval(sql, *arguments)
    elapsed = time.perf_counter() - began
    await connection.close()
    say([ask["count"] * ask["messages"] / elapsed])


def _rows(head: int, ask: Any) -> Rows:
    now = datetime.now(UTC)
    author = Author(1, "agent-1", "agent-1", "agent")
    message = Message("status", ask["body"], None)
    rows = Rows(now)
    room = Room(ROOM, "default", "room", "bench", "bench", now, head=head + ask["messages"])
    rows.heads[ROOM] = (head, room)
    rows.events = [
        (ROOM, Event(head + number, "message", None, now, author, False, message))
        for number in range(1, ask["messages"] + 1)
    ]
    return rows


if __name__ == "__main__":
    # Asked: url, count of statements, messages in each, body.
    asking = asked()
    loops.run("uvloop", _main(asking))
