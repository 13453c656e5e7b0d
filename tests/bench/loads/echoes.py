"""Round trips with the echo server, from an asyncio client. Seconds for each."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from tests.bench.loads import loops
from tests.bench.loads.talk import asked, say


class _Client(asyncio.Protocol):
    reply: asyncio.Future[None]

    def data_received(self, data: bytes) -> None:
        self.reply.set_result(None)


async def _main(ask: Any) -> None:
    loop = asyncio.get_running_loop()
    transport, client = await loop.create_unix_connection(_Client, ask["socket"])
    sent = ask["body"].encode()
    seconds = []
    for _ in range(ask["count"]):
        client.reply = loop.create_future()
        began = time.perf_counter()
        transport.write(sent)
        await client.reply
        seconds.append(time.perf_counter() - began)
    say(seconds)


if __name__ == "__main__":
    # Asked: loop, socket, count, body, which fits into one packet.
    asking = asked()
    loops.run(asking["loop"], _main(asking))
