"""Many callers, each posting one message after the other on its own connection: messages/s."""

from __future__ import annotations

import time

from tests.bench import fills, wires
from tests.bench.loads.talk import asked, say


def main() -> None:
    """Asked: socket, callers, rooms, batch, seconds, body. Caller n is `agent-n`, in its room."""
    ask = asked()
    crowd = wires.Crowd(ask["socket"], ask["callers"])
    posts = [
        wires.post(
            f"room-{number % ask['rooms'] + 1}", fills.agent(number + 1), ask["body"], ask["batch"]
        )
        for number in range(ask["callers"])
    ]
    sent, waiting = 0, ask["callers"]
    began = time.perf_counter()
    until = began + ask["seconds"]
    for index, post in enumerate(posts):
        crowd.send(index, post)
    while waiting:
        for index, reply in crowd.replies():
            reply.check(201)
            sent += 1
            if time.perf_counter() < until:
                crowd.send(index, posts[index])
            else:
                waiting -= 1
    say([sent * ask["batch"] / (time.perf_counter() - began)])


if __name__ == "__main__":
    main()
