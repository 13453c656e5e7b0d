"""One message at a time to one parked waiter.

Says the seconds from sending each post to holding the wait's whole answer.
"""

from __future__ import annotations

import time

from tests.bench import wires
from tests.bench.loads.talk import asked, say


def main() -> None:
    """Asked: socket, room, poster, waiter (members of it already), count, body."""
    ask = asked()
    room, waiter = ask["room"], ask["waiter"]
    posting, waiting = wires.Caller(ask["socket"]), wires.Caller(ask["socket"])
    post = wires.post(room, ask["poster"], ask["body"])
    start = waiting.call(wires.request("GET", f"/rooms/{room}/messages?limit=1", waiter))
    after_seq = start.expect(200)["latest_seq"]
    seconds = []
    for _ in range(ask["count"]):
        waiting.send(wires.wait(room, waiter, after_seq))
        wires.until_parked(posting, 1)
        began = time.perf_counter()
        posting.send(post)
        woken = waiting.receive()
        seconds.append(time.perf_counter() - began)
        after_seq = woken.expect(200)["next_after_seq"]
        posting.receive().check(201)
    say(seconds)


if __name__ == "__main__":
    main()
