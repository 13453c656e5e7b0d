"""What has to be done though nobody calls: ending what runs out, forgetting what is old."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import timedelta

import asyncpg

from coordroomsd.clock import Clock
from coordroomsd.domain.claims import EndOverdue
from coordroomsd.domain.commands import Decision
from coordroomsd.domain.retention import Remove
from coordroomsd.journal.journal import Journal
from coordroomsd.journal.submissions import Answer
from coordroomsd.live.metrics import Metrics
from coordroomsd.live.timers import Timers
from coordroomsd.live.unindexed import Unindexed
from coordroomsd.logs.troubles import Trouble
from coordroomsd.settings import Retention
from coordroomsd.store import reads, upkeep
from coordroomsd.store.database import Database

logger = logging.getLogger(__name__)

# How far ahead deadlines are looked up, for rooms that are not loaded, and how often.
DEADLINES_AHEAD = timedelta(seconds=120)
LOOK_FOR_DEADLINES_EVERY_S = 60.0
LOOK_AT_THE_LOOP_EVERY_S = 1.0
RETRY_AFTER = timedelta(seconds=1)
# How long an answer is kept for retries under its key: the contract's promise.
KEEP_ANSWERS = timedelta(days=7)
FORGET_EVERY_S = 3600.0
# For many messages in one session; a search before that reads what is new itself.
INDEX_AFTER_S = 2.0
# A policy is in force within a minute.
SWEEP_EVERY_S = 20.0
# Posts go first: a removal is a batch like theirs.
PAUSE_BETWEEN_REMOVALS_S = 0.02


async def end_what_runs_out(journal: Journal, timers: Timers, clock: Clock) -> None:
    """Let the journal end statuses and claims at their deadlines. Runs until cancelled."""

    trouble = Trouble(logger, "end all that has run out")

    async def end_in(room_id: int) -> Exception | None:
        try:
            await journal.execute(EndOverdue(room_id), lambda _, __: Answer(200, b""))
        except Exception as error:
            # Whatever is wrong with one room, the others' deadlines go on.
            timers.arm(room_id, clock.now() + RETRY_AFTER)
            return error
        return None

    while True:
        due = await timers.due()
        errors = [error for error in await asyncio.gather(*map(end_in, due)) if error]
        if errors:
            trouble.met(errors[0])
        else:
            trouble.over()


async def look_at_the_loop(metrics: Metrics, clock: Clock) -> None:
    """Note how late a timer is served, which is how late everybody is. Runs until cancelled."""
    while True:
        began = clock.monotonic()
        await asyncio.sleep(LOOK_AT_THE_LOOP_EVERY_S)
        late = clock.monotonic() - began - LOOK_AT_THE_LOOP_EVERY_S
        metrics.loop_lag_seconds.add(max(0.0, late))


async def arm_deadlines(database: Database, timers: Timers, clock: Clock) -> None:
    for room_id, deadline in await reads.deadlines(database.reads, clock.now() + DEADLINES_AHEAD):
        timers.arm(room_id, deadline)


async def look_for_deadlines(database: Database, timers: Timers, clock: Clock) -> None:
    """Runs until cancelled."""
    trouble = Trouble(logger, "look for deadlines")
    while True:
        await asyncio.sleep(LOOK_FOR_DEADLINES_EVERY_S)
        with trouble.told():
            await arm_deadlines(database, timers, clock)


async def forget_what_is_old(database: Database, clock: Clock) -> None:
    """Runs until cancelled."""
    trouble = Trouble(logger, "forget old answers and offers")
    while True:
        with trouble.told():
            await upkeep.forget_answers(database, clock.now() - KEEP_ANSWERS)
            await upkeep.forget_offers(database, clock.now() - KEEP_ANSWERS)
        await asyncio.sleep(FORGET_EVERY_S)


async def index_words(database: Database, unindexed: Unindexed, clock: Clock) -> None:
    """Read the words of messages into the search index, so that no post has to.

    Runs until cancelled.
    """
    trouble = Trouble(logger, "read messages into the search index")
    while True:
        await unindexed.some()
        await asyncio.sleep(INDEX_AFTER_S)
        with trouble.told():
            async with database.side_session() as session:
                if database.member:
                    await upkeep.take_turn(session)
                await index_all(session, unindexed, clock)


async def index_all(session: asyncpg.Connection, unindexed: Unindexed, clock: Clock) -> None:
    """Until there is nothing left to read."""
    while (room_id := unindexed.take()) is not None:
        try:
            began = clock.monotonic()
            has_more = await upkeep.index_words(session, room_id)
        except BaseException:
            unindexed.again()
            raise
        if has_more:
            unindexed.again()
        else:
            unindexed.done()
        # Half a core at most: posts go first.
        await asyncio.sleep(clock.monotonic() - began)


class Sweeping:
    """Retention: lets every room begin where its policy says, a little at a time."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        default: Retention,
        is_ours: Callable[[], bool] = lambda: True,
    ) -> None:
        self._database = database
        # Of daemons that share a database one does it.
        self._is_ours = is_ours
        self._clock = clock
        self._default = default
        self._hastened = asyncio.Event()

    def keep(self, default: Retention) -> None:
        """What rooms without a policy of their own keep from now on."""
        self._default = default
        self.hasten()

    def hasten(self) -> None:
        """A policy has changed: sweep now."""
        self._hastened.set()

    async def run(self, journal: Journal) -> None:
        """Runs until cancelled."""
        trouble = Trouble(logger, "remove what retention does not keep")
        while True:
            self._hastened.clear()
            with trouble.told():
                if self._is_ours():
                    await self._sweep(journal)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SWEEP_EVERY_S):
                    await self._hastened.wait()

    async def _sweep(self, journal: Journal) -> None:
        for room_id, first_seq in await reads.over_policy(
            self._database.reads,
            self._default.max_age_s,
            self._default.max_events,
            self._clock.now(),
        ):
            await self._remove(journal, room_id, first_seq)

    async def _remove(self, journal: Journal, room_id: int, first_seq: int) -> None:
        reached = 0
        while reached < first_seq:
            before, reached = reached, 0

            def note(decision: Decision, _: object) -> Answer:
                nonlocal reached
                reached = decision.result.first_seq
                return Answer(200, b"")

            await journal.execute(Remove(room_id, first_seq), note)
            if reached == before:
                return
            await asyncio.sleep(PAUSE_BETWEEN_REMOVALS_S)
