"""The floor of waking many: a bare asyncio server that writes one answer to every connection.

It does so when a connection, which gets none itself, sends TRIGGER.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from tests.bench.loads import loops
from tests.bench.loads.talk import asked, say

TRIGGER = b"!"


class _Fan(asyncio.Protocol):
    def __init__(self, waiting: set[asyncio.Transport], answer: bytes) -> None:
        self._waiting = waiting
        self._answer = answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none by inheritance.
        self._transport = cast("asyncio.Transport", transport)
        self._waiting.add(self._transport)

    def data_received(self, data: bytes) -> None:
        assert data == TRIGGER
        self._waiting.discard(self._transport)
        for transport in self._waiting:
            transport.write(self._answer)

    def connection_lost(self, error: Exception | None) -> None:
        self._waiting.discard(self._transport)


async def _main(ask: Any) -> None:
    body = b"x" * ask["bytes"]
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    waiting: set[asyncio.Transport] = set()
    server = await asyncio.get_running_loop().create_unix_server(
        lambda: _Fan(waiting, answer), ask["socket"], backlog=4096
    )
    say("ready")
    await server.serve_forever()


if __name__ == "__main__":
    # Asked: loop, socket, bytes of the answer's body. Serves until it is ended.
    asking = asked()
    loops.run(asking["loop"], _main(asking))
