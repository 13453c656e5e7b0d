"""One short call of each of many members: the daemon knows them then."""

from __future__ import annotations

from tests.bench import fills, wires
from tests.bench.loads.talk import asked, say

CONNECTIONS = 32


def main() -> None:
    """Asked: socket, room, members."""
    ask = asked()
    crowd = wires.Crowd(ask["socket"], min(CONNECTIONS, ask["members"]))
    calls = (
        wires.request("GET", f"/rooms/{ask['room']}/wait?timeout_s=0", fills.agent(number))
        for number in range(1, ask["members"] + 1)
    )
    missing = ask["members"]
    # The calls that are left are shared out as answers come.
    for index, call in zip(range(CONNECTIONS), calls, strict=False):
        crowd.send(index, call)
    while missing:
        for index, reply in crowd.replies():
            reply.check(200)
            missing -= 1
            following = next(calls, None)
            if following is not None:
                crowd.send(index, following)
    say([])


if __name__ == "__main__":
    main()
