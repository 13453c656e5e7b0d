"""A room full of parties that never give up, and what they were told."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from tests.daemon_processes import DaemonProcess
from tests.faults.agents import Agent, LibraryAgent, ToolAgent
from tests.faults.ledgers import Ledger
from tests.faults.parties import LONGEST_PAUSE_S, WAITERS, WRITING, Party, Waiter, Writer
from tests.http_callers import Caller
from tests.model import checker
from tests.model.checker import Json

P = TypeVar("P", bound=Party)

# How many there are of each.
AGENTS: Final[Sequence[type[Agent]]] = (*[LibraryAgent] * 2, *[ToolAgent] * 2)


class Traffic:
    """A room of its own, with everybody in it."""

    def __init__(self, daemon: DaemonProcess, name: str, chances: random.Random) -> None:
        self.ledger = Ledger()
        self._daemon = daemon
        self._name = name
        self._chances = chances
        self._path = f"/rooms/{name}"
        self._busy: list[Party] = []
        self._waiters: list[Waiter | Agent] = []
        self._stopping = False
        self._answered = asyncio.Event()

    async def begin(self) -> None:
        """Let everybody join."""
        for number, role in enumerate(WRITING):
            self._busy.append(await self._join(role, number))
        for number in range(WAITERS):
            self._waiters.append(await self._join(Waiter, number))
        for number, role in enumerate(AGENTS):
            self._waiters.append(await self._join(role, number))

    async def flow(self) -> None:
        """Call and follow until `stop`, and then until everybody was shown everything."""
        async with asyncio.TaskGroup() as everybody:
            for waiter in self._waiters:
                everybody.create_task(self._follow(waiter))
            async with asyncio.TaskGroup() as calling:
                for party in self._busy:
                    calling.create_task(self._keep_calling(party))
            await next(party for party in self._busy if isinstance(party, Writer)).close()

    def stop(self) -> None:
        self._stopping = True

    async def more_answers(self, count: int) -> None:
        """Return after `count` more messages were acknowledged."""
        enough = len(self.ledger.answers) + count
        await self._until(lambda: len(self.ledger.answers) >= enough)

    async def all_answered_since(self, moment: float) -> None:
        """Return when everybody but the waiters has an answer to what it began after `moment`."""
        await self._until(lambda: all(party.begun >= moment for party in self._busy))

    async def check(self) -> None:
        """Hold what everybody was told against the log."""
        log = await whole_log(self._busy[0].caller, self._path)
        checker.check_log(log)
        self.ledger.check(log)
        for party in (*self._busy, *self._waiters):
            party.check(log)

    async def _keep_calling(self, party: Party) -> None:
        while not self._stopping:
            await party.step()
            self._answered.set()
            await asyncio.sleep(self._chances.uniform(0, LONGEST_PAUSE_S))

    async def _follow(self, waiter: Waiter | Agent) -> None:
        try:
            while not waiter.has_heard_all:
                await waiter.step()
        finally:
            if isinstance(waiter, Agent):
                waiter.close()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._answered.clear()
            await self._answered.wait()

    async def _join(self, role: type[P], number: int) -> P:
        caller = self._daemon.caller(f"{self._name}-{role.__name__.lower()}-{number}")
        reply = await caller.call("POST", f"{self._path}/join")
        if reply.status == 404:
            reply = await caller.call("POST", "/rooms", {"name": self._name})
        assert reply.status in (200, 201), reply
        chances = random.Random(self._chances.random())
        return role(caller, self._path, self.ledger, chances, reply.body["next_after_seq"])


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
