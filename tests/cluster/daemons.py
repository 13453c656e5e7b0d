"""Several daemons in the test's own process, on one database, and a bus between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from coordroomsd import app
from coordroomsd.clock import Clock
from coordroomsd.live.buses import Bus
from coordroomsd.settings import Limits
from coordroomsd.store.database import Database
from coordroomsd.store.sessions import ConnectArguments
from coordroomsd.store.sharing import Member
from tests.integration.daemons import NO_LIMITS, Running, config, no_jitter
from tests.integration.stored_logs import check_stored

# What becomes of one text on its way: how often it arrives.
Fate = Callable[[str], int]


def faithful(_: str) -> int:
    return 1


class Network:
    """A bus inside the process. `fate` may lose or double what is sent, `held` keep it back."""

    def __init__(self, fate: Fate = faithful) -> None:
        self.fate = fate
        self.held: list[str] | None = None
        self._ears: list[Callable[[str], None]] = []

    def bus(self) -> Bus:
        return _NetworkBus(self)

    def send(self, texts: Iterable[str]) -> None:
        for text in texts:
            if self.held is not None:
                self.held.append(text)
            else:
                self.deliver(text)

    def deliver(self, text: str) -> None:
        for _ in range(self.fate(text)):
            for ear in self._ears:
                ear(text)

    def let_go(self) -> None:
        """Deliver what was kept back, the last first."""
        held, self.held = self.held or [], None
        for text in reversed(held):
            self.deliver(text)

    @asynccontextmanager
    async def listening(self, heard: Callable[[str], None]) -> AsyncIterator[None]:
        self._ears.append(heard)
        try:
            yield
        finally:
            self._ears.remove(heard)


class _NetworkBus:
    def __init__(self, network: Network) -> None:
        self._network = network

    def send(self, texts: Iterable[str]) -> None:
        self._network.send(texts)

    async def run(self, heard: Callable[[str], None], connected: Callable[[], None]) -> None:
        async with self._network.listening(heard):
            connected()
            await asyncio.Event().wait()


@asynccontextmanager
async def together(
    arguments: ConnectArguments,
    count: int = 2,
    *,
    network: Network | None = None,
    clock: Clock | None = None,
    limits: Limits = NO_LIMITS,
    may_fail: bool = False,
) -> AsyncIterator[list[Running]]:
    """From open to closed, and what they have stored is whole then. Without `network`: Postgres."""
    async with AsyncExitStack() as stack:
        running: list[Running] = []
        for number in range(1, count + 1):
            member = Member(number, f"daemon {number}", "postgres")
            database = await Database.open(arguments, owner=member.name, member=member)
            stack.push_async_callback(database.close)
            daemon = await stack.enter_async_context(
                app.running(
                    config(limits),
                    database,
                    clock=clock,
                    jitter=no_jitter,
                    bus=network.bus() if network else None,
                )
            )
            running.append(Running(daemon, database))
        yield running
        for one in running:
            assert may_fail or not one.daemon.failed.done(), one.daemon.failed.exception()
        await check_stored(running[0].database.reads)
