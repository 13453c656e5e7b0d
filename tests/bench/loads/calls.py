"""What the client library adds to a call: the same call by a bare socket and by both of its fronts.

Says the seconds of each call by its name and way. They take turns, call by call.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from coordrooms import AsyncClient, Client
from tests.bench import wires
from tests.bench.loads.talk import asked, say


async def _main(ask: Any) -> None:
    room, caller, body = ask["room"], ask["caller"], ask["body"]
    url = f"unix:{ask['socket']}"
    bare = wires.Caller(ask["socket"])
    message = {"messages": [{"kind": "decision", "body": body}]}

    def bare_me() -> None:
        bare.call(wires.request("GET", "/me", caller)).expect(200)

    def bare_post() -> None:
        # The library gives each post a key, so that it can be repeated.
        key = uuid.uuid4().hex
        path = f"/rooms/{room}/messages"
        bare.call(wires.request("POST", path, caller, message, key)).expect(201)

    with Client(caller, url=url) as client:
        async with AsyncClient(caller, url=url) as async_client:
            sync_room, async_room = client.room(room), async_client.room(room)
            ways: dict[str, dict[str, Callable[[], Any]]] = {
                "me": {"bare": bare_me, "Client": client.me, "AsyncClient": async_client.me},
                "post": {
                    "bare": bare_post,
                    "Client": lambda: sync_room.post(body),
                    "AsyncClient": lambda: async_room.post(body),
                },
            }
            found = {name: await _in_turns(call, ask["count"]) for name, call in ways.items()}
    say([found])


async def _in_turns(call: dict[str, Callable[[], Any]], count: int) -> dict[str, list[float]]:
    """Seconds of each way. Another one begins each time: whoever does has it harder."""
    found: dict[str, list[float]] = {way: [] for way in call}
    ways = list(call)
    for do in call.values():
        await _seconds(do)
    for turn in range(count):
        first = turn % len(ways)
        for way in ways[first:] + ways[:first]:
            found[way].append(await _seconds(call[way]))
    return found


async def _seconds(do: Callable[[], Any]) -> float:
    began = time.perf_counter()
    done = do()
    if isinstance(done, Awaitable):
        await done
    return time.perf_counter() - began


if __name__ == "__main__":
    # Asked: socket, room, caller (a member of it), count, body.
    asyncio.run(_main(asked()))
