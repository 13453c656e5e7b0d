"""How soon the daemon answers the smallest call there is: when each was made, and its seconds.

What keeps the daemon's loop busy shows as a late answer.
"""

from __future__ import annotations

import time

from tests.bench import wires
from tests.bench.loads.talk import asked, say

PROBE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
PAUSE_S = 0.001


def main() -> None:
    """Asked: socket, seconds."""
    ask = asked()
    caller = wires.Caller(ask["socket"])
    found = []
    until = time.time() + ask["seconds"]
    while (at := time.time()) < until:
        began = time.perf_counter()
        caller.call(PROBE).check(200)
        found.append((at, time.perf_counter() - began))
        time.sleep(PAUSE_S)
    say(found)


if __name__ == "__main__":
    main()
