"""Pages of a room's history from anywhere in it, one after the other. Seconds for each."""

from __future__ import annotations

import random
import time

from tests.bench import wires
from tests.bench.loads.talk import asked, say

LIMIT = 50


def main() -> None:
    """Asked: socket, room, reader (a member of it), count."""
    ask = asked()
    caller = wires.Caller(ask["socket"])
    room, reader = ask["room"], ask["reader"]

    def page(after_seq: int, limit: int) -> bytes:
        path = f"/rooms/{room}/messages?after_seq={after_seq}&limit={limit}"
        return wires.request("GET", path, reader)

    head = caller.call(page(0, 1)).expect(200)["latest_seq"]
    places = random.Random(1)
    seconds = []
    for _ in range(ask["count"]):
        asking = page(places.randrange(max(1, head - LIMIT)), LIMIT)
        began = time.perf_counter()
        reply = caller.call(asking)
        seconds.append(time.perf_counter() - began)
        reply.check(200)
    say(seconds)


if __name__ == "__main__":
    main()
