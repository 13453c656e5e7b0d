"""Many connections to the fan server, and one that makes it write to all of them.

Says the same as `parked`.
"""

from __future__ import annotations

import time

from tests.bench import wires
from tests.bench.loads.fan_server import TRIGGER
from tests.bench.loads.talk import asked, say


def main() -> None:
    """Asked: socket, waiters, rounds."""
    ask = asked()
    number = ask["waiters"]
    crowd = wires.Crowd(ask["socket"], number)
    trigger = wires.connect(ask["socket"])
    # Whoever connected later is asked first: when it is answered, all have been taken in.
    for _ in range(ask["rounds"] + 1):
        seconds: list[float] = []
        began = time.perf_counter()
        trigger.sendall(TRIGGER)
        while len(seconds) < number:
            seconds += [time.perf_counter() - began for _ in crowd.replies()]
        found = {"first": seconds[0], "middle": seconds[number // 2], "last": seconds[-1]}
        say(found)


if __name__ == "__main__":
    main()
