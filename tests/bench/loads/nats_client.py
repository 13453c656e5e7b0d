"""NATS JetStream through its ordinary client: lone messages, or those of many callers."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import nats
from nats.js.api import StorageType

from tests.bench.loads.talk import asked, say


async def _lone(ask: Any) -> None:
    url, stream = f"nats://{ask['address']}", ask["stream"]
    writer, reader = await nats.connect(url), await nats.connect(url)
    await writer.jetstream().add_stream(name=stream, subjects=[stream], storage=StorageType.FILE)
    subscription = await reader.jetstream().subscribe(stream)
    body = ask["body"].encode()
    seconds = []
    for _ in range(ask["count"]):
        reading = asyncio.create_task(subscription.next_msg(timeout=60))
        await asyncio.sleep(0)
        began = time.perf_counter()
        writing = asyncio.create_task(writer.jetstream().publish(stream, body))
        message = await reading
        seconds.append(time.perf_counter() - began)
        await message.ack()
        await writing
    await writer.jetstream().delete_stream(stream)
    await reader.close()
    await writer.close()
    say(seconds)


async def _callers(ask: Any) -> None:
    """Messages a second of so many callers, each on a connection of its own."""
    url, body = f"nats://{ask['address']}", ask["body"].encode()
    clients = [await nats.connect(url) for _ in range(ask["callers"])]
    streams = [f"{ask['stream']}-{number}" for number in range(ask["streams"])]
    for stream in streams:
        await (
            clients[0]
            .jetstream()
            .add_stream(name=stream, subjects=[stream], storage=StorageType.FILE)
        )
    sent = 0
    began = time.perf_counter()
    until = began + ask["seconds"]

    async def call(number: int) -> None:
        nonlocal sent
        jetstream, stream = clients[number].jetstream(), streams[number % len(streams)]
        while time.perf_counter() < until:
            await jetstream.publish(stream, body)
            sent += 1

    await asyncio.gather(*map(call, range(len(clients))))
    elapsed = time.perf_counter() - began
    for stream in streams:
        await clients[0].jetstream().delete_stream(stream)
    for client in clients:
        await client.close()
    say([sent / elapsed])


if __name__ == "__main__":
    # Asked: do, address, stream, body; for `lone` count; for `callers` callers, streams, seconds.
    asking = asked()
    asyncio.run({"lone": _lone, "callers": _callers}[asking["do"]](asking))
