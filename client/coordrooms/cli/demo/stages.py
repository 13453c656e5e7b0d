"""The demo itself: a fresh room, two processes in it, and somebody who looks on."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable

from ...async_clients import AsyncClient, AsyncRoom
from ...errors import CoordroomsError
from ...events import Event, MemberEvent
from .checks import problems
from .scripts import ADA, AGENTS, BOB, SCRIPT

# Two processes have to start; nothing that works comes near it.
GIVE_UP_AFTER_S = 60.0


class DemoFailedError(CoordroomsError):
    """Something was lost, repeated or out of order, or an agent did not play its part."""


class Stage:
    """One run of the demo as `audience`, who prints events with `show`."""

    def __init__(
        self,
        client: AsyncClient,
        suffix: str,
        prefix: str,
        pace_s: float,
        show: Callable[[Event], None],
    ) -> None:
        self._client = client
        self._name = f"demo {suffix}"
        self._ids = {agent: f"{prefix}{agent}-{suffix}" for agent in AGENTS}
        self._pace_s = pace_s
        self._show = show
        self._streamed: list[int] = []
        self._given: dict[str, list[int]] = {}
        self._ada_is_in = asyncio.Event()

    async def run(self) -> list[Event]:
        """Play, check, and return the room's whole log. Raises DemoFailedError."""
        room = await self._client.create_room(self._name)
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
        agent_of = {conversation: agent for agent, conversation in self._ids.items()}
        async for event in room.stream(after_seq=0):
            if not isinstance(event, Event):
                raise DemoFailedError(f"Events {event.from_seq} to {event.to_seq} are gone.")
            self._streamed.append(event.seq)
            self._show(event)
            if isinstance(event, MemberEvent) and event.author is not None:
                agent = agent_of.get(event.author.conversation_id)
                if agent == ADA:
                    self._ada_is_in.set()
                if event.reason == "left" and agent is not None:
                    present.discard(agent)
            if not present:
                return

    async def _agent(self, agent: str, room: AsyncRoom) -> None:
        """Run an agent's process to its end, and keep the numbers that it was given."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", f"{__package__}.agents", agent),
            *("--as", self._ids[agent], "--room", room.ref, "--pace", str(self._pace_s)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"COORDROOMS_URL": self._client.address},
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
