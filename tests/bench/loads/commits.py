"""The floor of durability: one row, one commit, one bare asyncpg connection. Seconds for each."""

from __future__ import annotations

import time
from typing import Any

import asyncpg

from tests.bench.loads import loops
from tests.bench.loads.talk import asked, say

TABLE = "CREATE TABLE IF NOT EXISTS floor (id bigint GENERATED ALWAYS AS IDENTITY, body text)"


async def _main(ask: Any) -> None:
    connection = await asyncpg.connect(ask["url"])
    await connection.execute(TABLE)
    insert = await connection.prepare("INSERT INTO floor (body) VALUES ($1)")
    seconds = []
    for _ in range(ask["count"]):
        began = time.perf_counter()
        await insert.fetch(ask["body"])
        seconds.append(time.perf_counter() - began)
    await connection.close()
    say(seconds)


if __name__ == "__main__":
    # Asked: loop, url, count, body.
    asking = asked()
    loops.run(asking["loop"], _main(asking))
