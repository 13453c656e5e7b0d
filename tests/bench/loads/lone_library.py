"""One message at a time to one waiter, both by the asynchronous client library. As `lone` says."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from coordrooms import AsyncClient
from tests.bench import wires
from tests.bench.loads.talk import asked, say


async def _main(ask: Any) -> None:
    url = f"unix:{ask['socket']}"
    looking = wires.Caller(ask["socket"])
    seconds = []
    async with (
        AsyncClient(ask["poster"], url=url) as one,
        AsyncClient(ask["waiter"], url=url) as other,
    ):
        posting, waiting = one.room(ask["room"]), other.room(ask["room"])
        after_seq = (await waiting.history(limit=1)).latest_seq
        for _ in range(ask["count"]):
            wait = asyncio.create_task(waiting.wait(after_seq))
            await asyncio.to_thread(wires.until_parked, looking, 1)
            began = time.perf_counter()
            post = asyncio.create_task(posting.post(ask["body"], "status"))
            after_seq = (await wait).next_after_seq
            seconds.append(time.perf_counter() - began)
            await post
    say(seconds)


if __name__ == "__main__":
    # Asked: as in lone.
    asyncio.run(_main(asked()))
