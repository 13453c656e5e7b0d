"""One short call of each of many members, one after the other: the daemon knows them then."""

from __future__ import annotations

from tests.bench import fills, wires
from tests.bench.loads.talk import asked, say


def main() -> None:
    """Asked: socket, room, members."""
    ask = asked()
    caller = wires.Caller(ask["socket"])
    for number in range(1, ask["members"] + 1):
        look = f"/rooms/{ask['room']}/wait?timeout_s=0"
        caller.call(wires.request("GET", look, fills.agent(number))).check(200)
    say([])


if __name__ == "__main__":
    main()
