"""The floor of a round trip: a bare asyncio server on a Unix socket that sends back what comes."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from tests.bench.loads import loops
from tests.bench.loads.talk import asked, say


class _Echo(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none by inheritance.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


async def _main(ask: Any) -> None:
    server = await asyncio.get_running_loop().create_unix_server(_Echo, ask["socket"])
    say("ready")
    await server.serve_forever()


if __name__ == "__main__":
    # Asked: loop, socket. Serves until it is ended.
    asking = asked()
    loops.run(asking["loop"], _main(asking))
