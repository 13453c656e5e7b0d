"""Calls of every sort at a fixed rate, whether or not the daemon keeps up.

A call's time begins when it was due and not when a connection was free for it, so a daemon that
falls behind shows it. When calls are far too late, the load ends early. Says `calls`, the seconds
of each by its sort; `elapsed`, its own seconds; and `busy`, the part of a core that it used.
"""

from __future__ import annotations

import random
import re
import time
from collections import deque
from collections.abc import Callable

from tests.bench import fills, wires
from tests.bench.loads.talk import asked, say

# In twenty calls, in the order in which they come.
MIX = (
    "post", "history", "post", "claim", "post", "post", "reaction", "post", "history", "post",
    "status", "post", "history", "post", "claim", "post", "reaction", "post", "history", "status",
)  # fmt: skip
CONNECTIONS_EACH = 2
# Calls this late are past what is looked for.
TOO_LATE_S = 1.0
# The stamp that a message begins with, to tell a waiter how old it is.
_STAMP = re.compile(rb'"body":"(\d+\.\d{6}) ')
_NEXT = re.compile(rb'"next_after_seq":(\d+)')


class _Agents:
    """What the agents call, in turn; agent n is in room (n - 1) // each + 1."""

    def __init__(self, rooms: int, each: int, messages: int, body: str) -> None:
        self._rooms, self._each, self._messages, self._body = rooms, each, messages, body
        self._turns = [0] * rooms * each
        self._next = 0
        self._places = random.Random(1)
        self._calls: dict[str, Callable[[str, str, int], bytes]] = {
            "post": self._post,
            "history": self._history,
            "claim": self._claim,
            "reaction": self._reaction,
            "status": self._status,
        }

    def call(self, sort: str) -> bytes:
        index = self._next
        self._next = (index + 1) % len(self._turns)
        self._turns[index] += 1
        room = f"room-{index // self._each + 1}"
        return self._calls[sort](room, fills.agent(index + 1), self._turns[index])

    def _post(self, room: str, agent: str, turn: int) -> bytes:
        body = f"{time.perf_counter():.6f} {self._body}"[: len(self._body)]
        return wires.post(room, agent, body)

    def _history(self, room: str, agent: str, turn: int) -> bytes:
        after_seq = self._places.randrange(self._messages)
        path = f"/rooms/{room}/messages?after_seq={after_seq}&limit=20"
        return wires.request("GET", path, agent)

    def _claim(self, room: str, agent: str, turn: int) -> bytes:
        if turn % 2:
            return wires.request("POST", f"/rooms/{room}/claims", agent, {"key": agent})
        return wires.request("DELETE", f"/rooms/{room}/claims?key={agent}", agent)

    def _reaction(self, room: str, agent: str, turn: int) -> bytes:
        # What the room was filled with begins after its members have joined.
        message = self._each + 1 + turn // 2 % self._messages
        method = "PUT" if turn % 2 else "DELETE"
        return wires.request(method, f"/rooms/{room}/messages/{message}/reactions/like", agent)

    def _status(self, room: str, agent: str, turn: int) -> bytes:
        return wires.request("PUT", f"/rooms/{room}/status", agent, {"status": f"at {turn}"})


def main() -> None:
    """Asked: socket, rooms; each (members), messages and waiters of a room; rate, seconds, body."""
    ask = asked()
    agents = _Agents(ask["rooms"], ask["each"], ask["messages"], ask["body"])
    callers = ask["rooms"] * ask["each"] * CONNECTIONS_EACH
    # The last members of a room wait in it.
    waiting = [
        (f"room-{room + 1}", fills.agent((room + 1) * ask["each"] - number))
        for room in range(ask["rooms"])
        for number in range(ask["waiters"])
    ]
    crowd = wires.Crowd(ask["socket"], callers + len(waiting))
    looking = wires.Caller(ask["socket"])
    for index, (room, agent) in enumerate(waiting):
        look = wires.request("GET", f"/rooms/{room}/messages?limit=1", agent)
        head = looking.call(look).expect(200)["latest_seq"]
        crowd.send(callers + index, wires.wait(room, agent, head))
    wires.until_parked(looking, len(waiting))

    calls: dict[str, list[float]] = {sort: [] for sort in (*dict.fromkeys(MIX), "wait")}
    free = list(range(callers))
    due: deque[tuple[str, float]] = deque()
    flying: dict[int, tuple[str, float]] = {}
    used, began = time.process_time(), time.perf_counter()
    until, made = began + ask["seconds"], 0
    while True:
        now = time.perf_counter()
        while (at := began + made / ask["rate"]) <= min(now, until):
            due.append((MIX[made % len(MIX)], at))
            made += 1
        if due and now - due[0][1] > TOO_LATE_S:
            break
        while due and free:
            index = free.pop()
            flying[index] = due.popleft()
            crowd.send(index, agents.call(flying[index][0]))
        if now >= until and not flying:
            break
        for index, reply in crowd.replies_within(max(0, at - now) if at < until else 1):
            now = time.perf_counter()
            if index < callers:
                sort, at = flying.pop(index)
                if reply.status not in (200, 201):
                    raise wires.UnexpectedError(f"{sort}: {reply.status} {reply.body[:500]!r}")
                calls[sort].append(now - at)
                free.append(index)
            else:
                room, agent = waiting[index - callers]
                _woken(reply, calls["wait"], now)
                [after_seq] = _NEXT.findall(reply.body)
                crowd.send(index, wires.wait(room, agent, int(after_seq)))
    # Those that were never answered, or never sent.
    for sort, at in [*flying.values(), *due]:
        calls[sort].append(now - at)
    elapsed = time.perf_counter() - began
    say([{"calls": calls, "elapsed": elapsed, "busy": (time.process_time() - used) / elapsed}])


def _woken(reply: wires.Reply, seconds: list[float], now: float) -> None:
    reply.check(200)
    # The first one is the oldest.
    if found := _STAMP.search(reply.body):
        seconds.append(now - float(found[1]))


if __name__ == "__main__":
    main()
