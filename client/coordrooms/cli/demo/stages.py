"""The demo itself: a fresh room, two processes in it, and somebody who looks on."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ...async_clients import AsyncClient, AsyncRoom
from ...errors import CoordroomsError
from ...events import Event, MemberEvent
from .checks import problems
from .scripts import ADA, AGENTS, AUDIENCE, BOB, SCRIPT

# Two processes have to start; nothing that works comes near it.
GIVE_UP_AFTER_S = 60.0


class DemoFailedError(CoordroomsError):
    """Something was lost, repeated or out of order, or an agent did not play its part."""


class Cast(NamedTuple):
    """As whom the three of one run act: below `prefix`, told from other runs by `suffix`.

    `environment` is what an agent's process needs besides to act so.
    """

    prefix: str
    suffix: str
    environment: Mapping[str, str]

    def conversation(self, name: str) -> str:
        return f"{self.prefix}{name}-{self.suffix}"

    @property
    def names(self) -> dict[str, str]:
        """What each of them is called, by the id it acts as."""
        return {self.conversation(name): name for name in (AUDIENCE, *AGENTS)}


class Stage:
    """One run of the demo, seen by its audience, for whom `show` prints the events."""

    def __init__(
        self,
        client: AsyncClient,
        cast: Cast,
        pace_s: float,
        show: Callable[[Event], None],
    ) -> None:
        self._client = client
        self._cast = cast
        self._ids = {agent: cast.conversation(agent) for agent in AGENTS}
        self._pace_s = pace_s
        self._show = show
        self._streamed: list[int] = []
        self._given: dict[str, list[int]] = {}
        self._ada_is_in = asyncio.Event()

    async def run(self) -> list[Event]:
        """Play, check, and return the room's whole log. Raises DemoFailedError."""
        room = await self._client.create_room(f"demo {self._cast.suffix}")
        try:
            async with asyncio.timeout(GIVE_UP_AFTER_S + 2 * self._pace_s * len(SCRIPT)):
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._look_on(room))
                    tasks.create_task(self._agent(ADA, room))
                    # Who joins later is not handed what was said before.
                    await self._ada_is_in.wait()
                    tasks.create_task(self._agent(BOB, room))
            log = await _whole_log(room)
        except TimeoutError:
            raise DemoFailedError("The agents did not come to an end in time.") from None
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        finally:
            await room.leave()
        if faults := problems(log, self._streamed, self._given, self._ids):
            raise DemoFailedError("\n".join(["The demo failed.", *faults]))
        return log

    async def _look_on(self, room: AsyncRoom) -> None:
        """Show everything as it happens, until both agents have left."""
        present = set(AGENTS)
        agent_of = self._cast.names
        async for event in room.stream(after_seq=0):
            if not isinstance(event, Event):
                raise DemoFailedError(f"Events are gone: {event}")
            self._streamed.append(event.seq)
            self._show(event)
            if isinstance(event, MemberEvent) and event.author is not None:
                agent = agent_of.get(event.author.conversation_id)
                if agent == ADA:
                    self._ada_is_in.set()
                if event.reason == "left":
                    present.discard(agent or "")
            if not present:
                return

    async def _agent(self, agent: str, room: AsyncRoom) -> None:
        """Run an agent's process to its end, and keep the numbers that it was given."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", f"{__package__}.agents", agent),
            *("--as", self._ids[agent], "--room", room.ref, "--pace", str(self._pace_s)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"COORDROOMS_URL": self._client.address, **self._cast.environment},
        )
        try:
            printed, complaint = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise DemoFailedError(
                f"The agent {agent} ended with {process.returncode}: {complaint.decode().strip()}"
            )
        self._given[agent] = json.loads(printed)


async def _whole_log(room: AsyncRoom) -> list[Event]:
    log: list[Event] = []
    while True:
        page = await room.events(log[-1].seq if log else 0, limit=1000)
        log += page.events
        if not page.has_more:
            return log
