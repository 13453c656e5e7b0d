"""Redis Streams through its ordinary client: lone messages, or those of many callers."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import redis.asyncio

from tests.bench.loads.talk import asked, say


async def _lone(ask: Any) -> None:
    writer, reader = (redis.asyncio.Redis(unix_socket_path=ask["address"]) for _ in range(2))
    stream, last = ask["stream"], b"0"
    seconds = []
    for _ in range(ask["count"]):
        reading = asyncio.create_task(reader.xread({stream: last}, block=60_000))
        while not await _has_reader(writer):
            pass
        began = time.perf_counter()
        writing = asyncio.create_task(writer.xadd(stream, {"body": ask["body"]}))
        [[_, [(last, _)]]] = await reading
        seconds.append(time.perf_counter() - began)
        await writing
    say(seconds)


async def _has_reader(writer: redis.asyncio.Redis) -> bool:
    clients = await writer.info("clients")
    return bool(clients["blocked_clients"])


async def _callers(ask: Any) -> None:
    """Messages a second of so many callers, each on a connection of its own."""
    clients = [redis.asyncio.Redis(unix_socket_path=ask["address"]) for _ in range(ask["callers"])]
    streams = [f"{ask['stream']}-{number % ask['streams']}" for number in range(ask["callers"])]
    fields = {"body": ask["body"]}
    for client in clients:
        await client.ping()
    sent = 0
    began = time.perf_counter()
    until = began + ask["seconds"]

    async def call(client: redis.asyncio.Redis, stream: str) -> None:
        nonlocal sent
        while time.perf_counter() < until:
            if ask["batch"] == 1:
                await client.xadd(stream, fields)
            else:
                async with client.pipeline(transaction=True) as pipeline:
                    for _ in range(ask["batch"]):
                        pipeline.xadd(stream, fields)
                    await pipeline.execute()
            sent += ask["batch"]

    await asyncio.gather(*map(call, clients, streams))
    say([sent / (time.perf_counter() - began)])


if __name__ == "__main__":
    # Asked: do, address, stream, body; for `lone` count; for `callers` callers, streams, batch,
    # seconds.
    asking = asked()
    asyncio.run({"lone": _lone, "callers": _callers}[asking["do"]](asking))
