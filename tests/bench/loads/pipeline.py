"""Agents that all speak at once, each one message after the other, and all hear each other.

Each agent posts on one connection and waits on another. Says, for each time it is repeated:
`stored`, the seconds of each message until its sender is answered; `heard`, until the last of the
others has it; and `all`, from the first post until everybody has everything.
"""

from __future__ import annotations

import time
from typing import Any

from tests.bench import fills, wires
from tests.bench.loads.talk import asked, say


class LostError(Exception):
    """An agent did not get each message of the others once and in order."""


class _Run:
    """`crowd` has a connection to post on for each agent, and then one to wait on."""

    def __init__(self, ask: Any, crowd: wires.Crowd) -> None:
        self._room, self._body = ask["room"], ask["body"]
        self._agents, self._each = ask["agents"], ask["each"]
        self._names = [fills.agent(index + 1) for index in range(self._agents)]
        self._crowd = crowd
        self._posted = [0] * self._agents
        # When each message was sent, when its sender was answered, when each agent had it.
        self._sent: dict[str, float] = {}
        self._stored: dict[str, float] = {}
        self._heard: list[dict[str, float]] = [{} for _ in range(self._agents)]

    def park(self, index: int, after_seq: int) -> None:
        self._crowd.send(
            self._agents + index, wires.wait(self._room, self._names[index], after_seq)
        )

    def go(self) -> dict[str, Any]:
        """Everybody waits already."""
        began = time.perf_counter()
        for index in range(self._agents):
            self._post(index)
        listening, messages = self._agents, self._agents * self._each
        while listening or len(self._stored) < messages:
            for index, reply in self._crowd.replies():
                if index >= self._agents:
                    listening -= self._took(index - self._agents, reply.expect(200))
                else:
                    reply.check(201)
                    self._stored[f"{index}/{self._posted[index]}"] = time.perf_counter()
                    if self._posted[index] < self._each:
                        self._post(index)
        ended = time.perf_counter()
        last = {name: max(h[name] for h in self._heard if name in h) for name in self._sent}
        return {
            "stored": [self._stored[name] - sent for name, sent in self._sent.items()],
            "heard": [last[name] - sent for name, sent in self._sent.items()],
            "all": ended - began,
        }

    def _post(self, index: int) -> None:
        self._posted[index] += 1
        name = f"{index}/{self._posted[index]}"
        body = f"{name} {self._body}"[: len(self._body)]
        self._sent[name] = time.perf_counter()
        self._crowd.send(index, wires.post(self._room, self._names[index], body))

    def _took(self, index: int, answer: Any) -> bool:
        """Whether that agent has everything now; else it waits again."""
        now, heard = time.perf_counter(), self._heard[index]
        for event in answer["events"]:
            name = event["body"].partition(" ")[0]
            sender, _, number = name.partition("/")
            if name in heard or (number != "1" and f"{sender}/{int(number) - 1}" not in heard):
                raise LostError(f"{self._names[index]} got {name} twice or out of order")
            heard[name] = now
        if len(heard) == (self._agents - 1) * self._each:
            return True
        self.park(index, answer["next_after_seq"])
        return False


def main() -> None:
    """Asked: socket, room, agents, each, body, repeats. The agents are the first members."""
    ask = asked()
    looking = wires.Caller(ask["socket"])
    crowd = wires.Crowd(ask["socket"], 2 * ask["agents"])
    look = wires.request("GET", f"/rooms/{ask['room']}/messages?limit=1", fills.agent(1))
    for _ in range(ask["repeats"]):
        head = looking.call(look).expect(200)["latest_seq"]
        run = _Run(ask, crowd)
        for index in range(ask["agents"]):
            run.park(index, head)
        wires.until_parked(looking, ask["agents"])
        say(run.go())


if __name__ == "__main__":
    main()
