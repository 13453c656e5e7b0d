"""Many waits parked at once on connections of their own, and one post that wakes them all.

Says when all are parked and waits to be told to go on. Then, each round: seconds from sending the
post to the first whole answer, to the middle one and to the last.
"""

from __future__ import annotations

import time
from typing import Any

from tests.bench import fills, wires
from tests.bench.loads.talk import asked, say, until_told


def main() -> None:
    """Asked: socket, room, waiters, rounds, body. Waiter n is `agent-n`, the next agent posts."""
    ask = asked()
    number, room = ask["waiters"], ask["room"]
    poster_name = fills.agent(number + 1)
    poster = wires.Caller(ask["socket"])
    crowd = wires.Crowd(ask["socket"], number)
    names = [fills.agent(index + 1) for index in range(number)]
    look = wires.request("GET", f"/rooms/{room}/messages?limit=1", poster_name)
    after_seq = poster.call(look).expect(200)["latest_seq"]
    post = wires.post(room, poster_name, ask["body"])
    for turn in range(ask["rounds"]):
        for index, name in enumerate(names):
            crowd.send(index, wires.wait(room, name, after_seq))
        wires.until_parked(poster, number)
        if turn == 0:
            say("parked")
            until_told()
        after_seq, found = _wake(poster, post, crowd, number)
        say(found)


def _wake(
    poster: wires.Caller, post: bytes, crowd: wires.Crowd, number: int
) -> tuple[int, dict[str, Any]]:
    seconds: list[float] = []
    began = time.perf_counter()
    poster.send(post)
    while len(seconds) < number:
        for _, reply in crowd.replies():
            seconds.append(time.perf_counter() - began)
            reply.check(200)
    found = {
        "first": seconds[0],
        "middle": seconds[number // 2],
        "last": seconds[-1],
        "bytes": len(reply.body),
    }
    after_seq = poster.receive().expect(201)["latest_seq"]
    return after_seq, found


if __name__ == "__main__":
    main()
