"""A daemon that a test without a loop of its own can call, move in time, and start again."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import uvloop

from coordroomsd.domain.claims import EndOverdue
from coordroomsd.journal.submissions import Answer
from coordroomsd.store.sessions import ConnectArguments
from tests.clocks import FakeClock
from tests.integration.daemons import Party, Running, running
from tests.polling import until

T = TypeVar("T")


class Harness:
    """Begins with `start` and ends with `stop`."""

    def __init__(self, arguments: ConnectArguments) -> None:
        self.clock = FakeClock()
        self._arguments = arguments
        self._runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self._open = AsyncExitStack()
        self._daemon: Running | None = None
        self._last_name = 0

    @property
    def daemon(self) -> Running:
        assert self._daemon
        return self._daemon

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def start(self) -> None:
        self._daemon = self.do(
            self._open.enter_async_context(running(self._arguments, clock=self.clock))
        )

    def stop(self) -> None:
        self.do(self._open.aclose())
        self._daemon = None

    def close(self) -> None:
        self._runner.close()

    def new_name(self, prefix: str) -> str:
        """One that nothing has had before: examples share the database."""
        self._last_name += 1
        return f"{prefix}-{self._last_name}"

    def party(self, name: str) -> Party:
        return self.daemon.party(name)

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Let it run beside what comes, as far as it goes for now."""

        async def create() -> asyncio.Task[T]:
            return asyncio.create_task(work)

        return self.do(create())

    def parks(self, task: asyncio.Task[Any], waiting: int) -> None:
        """Returns when the call is parked: the daemon has so many waiters then."""
        hub = self.daemon.services.hub
        self.do(until(lambda: task.done() or hub.statistics().waiting == waiting))
        self.settle()
        assert not task.done(), task.result()

    def settle(self) -> None:
        """Let everything go on that can."""

        async def turn() -> None:
            for _ in range(5):
                await asyncio.sleep(0)

        self.do(turn())

    def result(self, task: asyncio.Task[T]) -> T:
        async def wait() -> T:
            async with asyncio.timeout(30):
                return await task

        return self.do(wait())

    def look_for_overdue(self, room: str) -> None:
        """What the timers do in a room at a deadline."""

        async def end() -> None:
            found = await self.daemon.services.rooms.of_slug("default", room)
            if found:
                end_overdue = EndOverdue(found.state.id)
                await self.daemon.services.journal.execute(end_overdue, lambda *_: Answer(200, b""))

        self.do(end())

    def log_reaches(self, room: str, head: int) -> None:
        """Returns when the room has so many events."""

        async def there() -> bool:
            shown = await self.daemon.operator.ok("GET", f"/rooms/{room}")
            return bool(shown["room"]["latest_seq"] >= head)

        self.do(until(there))
