"""Writers and waiters of one room that never give up, and what they were told."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tests.daemon_processes import DaemonProcess
from tests.http_callers import Caller
from tests.model import checker
from tests.model.checker import Json, Operation, Waited

WRITERS: Final = 16
WAITERS: Final = 8
# Between two messages of one writer: enough to keep batches in flight at any moment.
LONGEST_PAUSE_S: Final = 0.05


@dataclass(slots=True)
class Writer:
    """Posts under keys, each again and again until there is an answer."""

    caller: Caller
    chances: random.Random
    bodies: list[str] = field(default_factory=list)
    answers: list[Json] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)

    async def post(self, path: str) -> None:
        body = f"{self.caller.name} says {len(self.bodies)}"
        self.bodies.append(body)
        began = asyncio.get_running_loop().time()
        answer = await self._send(path, body)
        answered = asyncio.get_running_loop().time()
        self.answers.append(answer)
        self.operations.append(Operation(began, answered, answer["latest_seq"]))
        if self.chances.random() < 0.1:
            assert await self._send(path, body) == answer, "a retry was answered otherwise"
        await asyncio.sleep(self.chances.uniform(0, LONGEST_PAUSE_S))

    async def _send(self, path: str, body: str) -> Json:
        message = {"messages": [{"kind": "decision", "body": body}]}
        key = body.replace(" ", "_")
        reply = await self.caller.until_answered("POST", path, message, idempotency_key=key)
        assert reply.status == 201, reply
        answer: Json = reply.body
        return answer


@dataclass(slots=True)
class Waiter:
    """Follows the room by `next_after_seq` alone."""

    caller: Caller
    after_seq: int
    limit: int
    waits: list[Waited] = field(default_factory=list)

    async def follow_to(self, path: str, end: asyncio.Future[int]) -> None:
        """Return when everything up to `end` was shown."""
        while not (end.done() and self.after_seq >= end.result()):
            reply = await self.caller.until_answered(
                "GET", path, after_seq=self.after_seq, limit=self.limit, timeout_s=0.5
            )
            assert reply.status == 200, reply
            self.waits.append(Waited(self.after_seq, reply.body))
            self.after_seq = reply.body["next_after_seq"]


class Traffic:
    """A room of its own, with everybody in it."""

    def __init__(self, daemon: DaemonProcess, name: str, chances: random.Random) -> None:
        self._daemon = daemon
        self._name = name
        self._chances = chances
        self._path = f"/rooms/{name}"
        self.writers: list[Writer] = []
        self.waiters: list[Waiter] = []
        self._end: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._stopping = False
        self._answered = asyncio.Event()

    async def begin(self) -> None:
        """Let everybody join."""
        for number in range(WRITERS):
            caller, _ = await self._join(f"writer-{number}")
            self.writers.append(Writer(caller, random.Random(self._chances.random())))
        for number in range(WAITERS):
            caller, start = await self._join(f"waiter-{number}")
            self.waiters.append(Waiter(caller, start, self._chances.choice((3, 100, 1000))))

    async def flow(self) -> None:
        """Write and follow until `stop`, and then until everybody was shown everything."""
        async with asyncio.TaskGroup() as everybody:
            for waiter in self.waiters:
                everybody.create_task(waiter.follow_to(f"{self._path}/wait", self._end))
            async with asyncio.TaskGroup() as writing:
                for writer in self.writers:
                    writing.create_task(self._keep_posting(writer))
            self._end.set_result(max(o.seq for w in self.writers for o in w.operations))

    def stop(self) -> None:
        self._stopping = True

    @property
    def answers(self) -> int:
        return sum(len(writer.answers) for writer in self.writers)

    async def more_answers(self, count: int) -> None:
        """Return after `count` more answers."""
        enough = self.answers + count
        await self._until(lambda: self.answers >= enough)

    async def all_answered_since(self, moment: float) -> None:
        """Return when every writer has an answer to something it began after `moment`."""
        await self._until(
            lambda: all(
                writer.operations and writer.operations[-1].began >= moment
                for writer in self.writers
            )
        )

    async def check(self) -> None:
        """Hold what everybody was told against the log."""
        log = await whole_log(self.writers[0].caller, self._path)
        checker.check_log(log)
        everything = [body for writer in self.writers for body in writer.bodies]
        checker.check_sent(log, acknowledged=everything, tried=everything)
        checker.check_acknowledged(log, (a for w in self.writers for a in w.answers))
        checker.check_order(operation for w in self.writers for operation in w.operations)
        for waiter in self.waiters:
            assert waiter.caller.name is not None
            checker.check_following(log, waiter.waits, waiter.caller.name)

    async def _keep_posting(self, writer: Writer) -> None:
        while not self._stopping:
            await writer.post(f"{self._path}/messages")
            self._answered.set()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._answered.clear()
            await self._answered.wait()

    async def _join(self, role: str) -> tuple[Caller, int]:
        caller = self._daemon.caller(f"{self._name}-{role}")
        reply = await caller.call("POST", f"{self._path}/join")
        if reply.status == 404:
            reply = await caller.call("POST", "/rooms", {"name": self._name})
        assert reply.status in (200, 201), reply
        return caller, reply.body["next_after_seq"]


async def whole_log(caller: Caller, room: str) -> list[Json]:
    """All events of the room at this path, page by page."""
    log: list[Json] = []
    while True:
        reply = await caller.until_answered("GET", f"{room}/events", after_seq=len(log), limit=1000)
        assert reply.status == 200, reply
        log += reply.body["events"]
        if not reply.body["has_more"]:
            assert len(log) == reply.body["latest_seq"]
            return log
