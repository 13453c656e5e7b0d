"""What daemons that share a database do for each other: tell, listen, sweep, say that they are."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

import asyncpg

from coordroomsd.clock import Clock, FollowingClock
from coordroomsd.journal.following import Together
from coordroomsd.live.buses import IDENTITIES, Bus, Hint, hint_of, texts
from coordroomsd.live.metrics import Metrics
from coordroomsd.live.rooms import LiveRoom, Rooms
from coordroomsd.live.timers import Timers
from coordroomsd.logs.troubles import Trouble
from coordroomsd.store import presence, reads, sessions
from coordroomsd.store.database import CONNECTION_FAULTS, Database
from coordroomsd.store.errors import OwnershipLostError
from coordroomsd.store.presence import Place
from coordroomsd.store.sharing import Member

logger = logging.getLogger(__name__)

# What a lost hint costs at most.
SWEEP_EVERY_S: Final = 1.0
# A network that swallows everything would hold it up for ever.
SWEEP_WITHIN_S: Final = 15.0
# Deadlines are looked up until the next sweep.
_AHEAD: Final = timedelta(seconds=2 * SWEEP_EVERY_S)


class Cluster:
    """One daemon's part. `tell` may be called by anybody; `listen`, `look` and `sweep` are tasks.

    `others` is how many share the database with this one; one of them `leads`, and does what is
    to be done once.
    """

    def __init__(
        self,
        database: Database,
        member: Member,
        bus: Bus,
        together: Together,
        rooms: Rooms,
        timers: Timers,
        clock: Clock,
        metrics: Metrics,
        lost: Callable[[OwnershipLostError], None],
    ) -> None:
        self.others = 0
        self.leads = False
        self._database = database
        self._member = member
        self._bus = bus
        self._together = together
        self._rooms = rooms
        self._timers = timers
        self._clock = clock
        self._metrics = metrics
        self._lost = lost
        # What a hint says has moved.
        self._moved: dict[int, int] = {}
        self._work = asyncio.Event()
        self._swept = asyncio.Event()
        self._session: asyncpg.Connection | None = None
        self._waiting: set[Place] = set()

    def tell(self, versions: Mapping[int, int]) -> None:
        """Let the others know what this daemon has written."""
        self._bus.send(texts(Hint(self._member.id, self._now_ms(), versions)))

    async def listen(self) -> None:
        """Runs until cancelled."""
        await self._bus.run(self._heard, self._swept.set)

    def _heard(self, text: str) -> None:
        hint = hint_of(text)
        if hint is None or hint.sender == self._member.id:
            return
        self._metrics.bus_lag_seconds.add(max(0, self._now_ms() - hint.at_ms) / 1000)
        for room_id, version in hint.versions.items():
            self._moved[room_id] = max(version, self._moved.get(room_id, 0))
        self._work.set()

    def _now_ms(self) -> int:
        return int(self._clock.now().timestamp() * 1000)

    async def look(self) -> None:
        """Look at what was hinted at. Runs until cancelled."""
        trouble = Trouble(logger, "look at what another daemon has told of")
        while True:
            await self._work.wait()
            self._work.clear()
            moved, self._moved = self._moved, {}
            with trouble.told():
                if IDENTITIES in moved:
                    await self._together.identities(moved.pop(IDENTITIES))
                await asyncio.gather(*(self._look_at(*one) for one in moved.items()))

    async def _look_at(self, room_id: int, version: int) -> None:
        """At a room that somebody waits in; a call looks for itself when it comes."""
        room = self._rooms.peek(room_id)
        if room is not None and len(room.waiters):
            await self._together.at_least(room, version)

    async def sweep(self) -> None:
        """Look without a hint each second, and at once when hints were missed for sure.

        Runs until cancelled.
        """
        trouble = Trouble(logger, "look at what other daemons have written")
        while True:
            self._swept.clear()
            with trouble.told():
                await self._try_to_sweep()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SWEEP_EVERY_S):
                    await self._swept.wait()

    async def _try_to_sweep(self) -> None:
        try:
            async with asyncio.timeout(SWEEP_WITHIN_S):
                await self._sweep()
        except OwnershipLostError as error:
            self._lost(error)
        except Exception:
            self._end_session()
            raise

    async def _sweep(self) -> None:
        session = await self._own_session()
        # Once: it would be held as often as it was taken.
        self.leads = self.leads or await presence.lead(session)
        seen = await presence.here(session, self._member)
        self.others = seen.others
        if isinstance(self._clock, FollowingClock):
            self._clock.follow(seen.at)
        if seen.generation != self._database.generation:
            raise OwnershipLostError(
                "the database has another generation than it had: it was restored from an older "
                "copy, or has lost what a daemon had committed. This daemon ends; start it again "
                "to serve what is there now"
            )
        await self._together.identities(seen.identities)
        waited_in = [room for room in self._rooms.loaded() if len(room.waiters)]
        self._metrics.hints_lost.add(count=await self._together.rooms(waited_in))
        await self._report_waiting(session, waited_in)
        # Also of a daemon that is no more.
        for room_id, deadline in await reads.deadlines(session, self._clock.now() + _AHEAD):
            self._timers.arm(room_id, deadline)

    async def _report_waiting(self, session: asyncpg.Connection, rooms: list[LiveRoom]) -> None:
        waiting = {
            (room.state.id, member) for room in rooms for member in room.waiters.waiting_here()
        }
        come, gone = waiting - self._waiting, self._waiting - waiting
        await presence.wait(session, self._member.id, sorted(come))
        await presence.wait_no_more(session, self._member.id, sorted(gone))
        self._waiting = waiting

    async def _own_session(self) -> asyncpg.Connection:
        if self._session is None or self._session.is_closed():
            self.leads = False
            self._session = await self._database.connect(sessions.BUS_SETTINGS)
            # What it was told before may be gone, or may not.
            await presence.nobody_waits(self._session, self._member.id)
            self._waiting = set()
        return self._session

    def _end_session(self) -> None:
        self.leads = False
        if self._session:
            self._session.terminate()
            self._session = None

    async def leave(self) -> None:
        """Say that the daemon is no more; it is the others' in any case within seconds."""
        if self._session and not self._session.is_closed():
            with contextlib.suppress(TimeoutError, *CONNECTION_FAULTS):
                async with asyncio.timeout(1):
                    await presence.leave(self._session, self._member.id)
        self._end_session()
