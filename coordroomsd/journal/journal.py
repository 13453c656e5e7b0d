"""The journal: the one task that writes.

It takes whatever is queued (no timer: while one batch is committed the next one gathers), decides
it in order, commits it as one statement, publishes it in that order, and answers the callers. A
request that goes away never reaches the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from datetime import datetime

from coordroomsd.clock import Clock
from coordroomsd.domain.commands import Command
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.messages import Post
from coordroomsd.journal.draft import Draft
from coordroomsd.journal.following import Together
from coordroomsd.journal.gathering import Gathering
from coordroomsd.journal.patience import answered
from coordroomsd.journal.publishing import Publishing
from coordroomsd.journal.submissions import Answer, KeyedCall, Respond, Stages, Submission
from coordroomsd.live.buckets import Buckets
from coordroomsd.live.metrics import Metrics
from coordroomsd.live.people import People
from coordroomsd.live.positions import Place, Positions
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store import faults
from coordroomsd.store.database import Database
from coordroomsd.store.errors import OwnershipLostError
from coordroomsd.store.rows import Rows
from coordroomsd.store.writer import write_statement

logger = logging.getLogger(__name__)

# A batch beyond this gains little more and makes its first caller wait for its last.
MAX_BATCH = 500
MAX_BATCH_CHARACTERS = 4 * 1024 * 1024
MAX_POSITIONS = 2_000
FLUSH_POSITIONS_EVERY_S = 1.0
# Where other daemons show them, too.
SHARE_POSITIONS_EVERY_S = 0.05
# While the database is away calls wait in memory; more of them than this would only time out.
MAX_QUEUED = 10_000


class Journal:
    """Belongs to the daemon that owns the database. Any task may `execute` and `flush`."""

    def __init__(
        self,
        database: Database,
        gathering: Gathering,
        publishing: Publishing,
        positions: Positions,
        buckets: Buckets,
        people: People,
        metrics: Metrics,
        clock: Clock,
        new_id: Callable[[datetime], int],
        together: Together | None = None,
    ) -> None:
        # What others write to the database is followed by; None: it is this daemon's alone.
        self._together = together
        self._deciding = together.deciding if together else asyncio.Lock()
        self._database = database
        self._gathering = gathering
        self._publishing = publishing
        self._positions = positions
        self._buckets = buckets
        self._people = people
        self._metrics = metrics
        self._clock = clock
        self._new_id = new_id
        self._queue: deque[Submission] = deque()
        self._flushes: list[asyncio.Future[None]] = []
        self._work = asyncio.Event()
        self._flush_due = False
        self._closing = False
        self._batch = database.batch
        # When there was last no position that is not stored.
        self._positions_stored_at = clock.monotonic()
        # Why the database last refused a write; empty when it took it.
        self._refused = ""

    def __len__(self) -> int:
        """How many calls are queued."""
        return len(self._queue)

    @property
    def takes_writes(self) -> bool:
        """Whether the database took the last batch, and is there for another."""
        return self._database.is_connected and not self._refused

    def positions_lag_s(self) -> float:
        """How long there have been positions that are not stored."""
        if not self._positions:
            return 0.0
        return self._clock.monotonic() - self._positions_stored_at

    async def execute(
        self, command: Command, respond: Respond, keyed: KeyedCall | None = None
    ) -> Answer:
        """Decide and store; returns once it is committed and published.

        Raises the Refusal that the rules or the store give. After `store_unavailable` it may have
        been stored all the same: that is what keys are for.
        """
        if len(self._queue) >= MAX_QUEUED:
            raise Refusal("store_unavailable", f"{MAX_QUEUED} calls wait for the database already.")
        submission = Submission(command, respond, keyed, self._clock.monotonic())
        self._queue.append(submission)
        self._work.set()
        return await answered(submission.future)

    async def flush(self) -> None:
        """Returns when all positions changed so far are stored. Raises `store_unavailable`."""
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._flushes.append(stored)
        self._work.set()
        await answered(stored)

    async def run(self) -> None:
        """Runs until `close`, and then until nothing is left to do."""
        while True:
            await self._work.wait()
            self._work.clear()
            while self._queue or self._flushes or self._flush_due:
                await self._next_batch()
            if self._closing:
                return

    def close(self) -> None:
        """Let `run` end once everything that is queued, and every position, is stored."""
        self._closing = True
        self._flush_due = True
        self._work.set()

    async def flush_positions_regularly(self) -> None:
        """Runs until cancelled."""
        pause_s = SHARE_POSITIONS_EVERY_S if self._together else FLUSH_POSITIONS_EVERY_S
        while True:
            await asyncio.sleep(pause_s)
            if self._positions:
                self._flush_due = True
                self._work.set()
            else:
                self._positions_stored_at = self._clock.monotonic()

    async def _next_batch(self) -> None:
        batch: list[Submission] = []
        characters = 0
        while self._queue and len(batch) < MAX_BATCH and characters < MAX_BATCH_CHARACTERS:
            submission = self._queue.popleft()
            if not submission.future.done():
                batch.append(submission)
                characters += _characters(submission.command)
        flushes, self._flushes = self._flushes, []
        flush = self._flush_due or bool(flushes)
        self._flush_due = False
        try:
            await self._store(batch, with_positions=flush)
        except Refusal as refusal:
            _settle(flushes, refusal)
        else:
            _settle(flushes, None)
            # The end waits for every position; while the database refuses them it does not.
            self._flush_due |= self._closing and bool(self._positions)

    async def _store(self, batch: list[Submission], *, with_positions: bool) -> None:
        """Decide, commit, publish and answer one batch. Raises what kept it from being stored."""
        began = self._clock.monotonic()
        while True:
            # Who gave up while the database was away is not begun again.
            batch = [submission for submission in batch if not submission.future.done()]
            taken: dict[Place, LiveRoom] = {}
            emptied_at: float | None = None
            draft: Draft | None = None
            try:
                draft = await self._decide(batch)
                if self._together and await self._together.is_overtaken(draft):
                    self._undo(draft, taken)
                    await self._catch_up(self._together, draft)
                    continue
                decided_at = self._clock.monotonic()
                rows = draft.shared_rows() if self._together else draft.rows()
                draft.cut()
                if with_positions:
                    taken = self._take_positions(rows)
                    emptied_at = None if self._positions else self._clock.monotonic()
                if not rows or await self._commit(rows):
                    break
            except OwnershipLostError:
                raise
            except Exception as error:
                self._undo(draft, taken)
                if self._together and draft and faults.is_conflict(error):
                    await self._catch_up(self._together, draft)
                    continue
                if faults.fault_of(error) is not faults.Fault.OUTCOME_UNKNOWN:
                    await self._not_stored(batch, error)
                    if with_positions:
                        await self._store([], with_positions=True)
                    return
                await self._database.reopen_writer()
            else:
                self._undo(draft, taken)
        if emptied_at is not None:
            self._positions_stored_at = emptied_at
        committed_at = self._clock.monotonic()
        self._publishing.publish(draft, committed_at)
        published_at = self._clock.monotonic()
        stages = Stages(began, decided_at, committed_at if rows else None, published_at)
        for submission in batch:
            submission.settle()
            submission.trace(stages)
        # Who waits for the batch comes first.
        asyncio.get_running_loop().call_soon(
            self._metrics.stored,
            len(batch),
            published_at - began,
            draft.event_types(),
        )

    async def _catch_up(self, together: Together, draft: Draft) -> None:
        """Before a batch is decided anew that another daemon's write has overtaken."""
        self._metrics.conflicts.add()
        try:
            await together.all_of(*draft.looked_at())
        except Exception as error:
            # Then the next write tells what is the matter.
            logger.warning("could not look at what another daemon wrote: %s", error)

    def _undo(self, draft: Draft | None, taken: dict[Place, LiveRoom]) -> None:
        self._positions.back(taken)
        if draft:
            draft.refund()

    def _take_positions(self, rows: Rows) -> dict[Place, LiveRoom]:
        taken = self._positions.take(MAX_POSITIONS)
        for place, room in taken.items():
            if place not in rows.memberships:
                rows.positions[place] = room.positions[place[1]]
        return taken

    async def _decide(self, batch: list[Submission]) -> Draft:
        commands = [submission.command for submission in batch]
        keyed = [submission.keyed for submission in batch if submission.keyed]
        async with self._deciding:
            facts = await self._gathering.gather(self._database.writer, commands, keyed)
            draft = Draft(
                facts,
                self._clock.now(),
                self._new_id,
                self._buckets,
                self._people,
                self._database.generation,
            )
            for submission in batch:
                try:
                    submission.decide(draft, facts.answers)
                except Exception as bug:
                    logger.exception("a rule failed on %s", _named(submission))
                    submission.fault = bug
            return draft

    async def _commit(self, rows: Rows) -> bool:
        """Whether it is stored; False when the connection went and the batch with it."""
        self._database.check_space()
        self._batch += 1
        member = self._database.member
        sql, arguments = write_statement(rows, self._batch, member.id if member else None)
        began = self._clock.monotonic()
        try:
            await self._database.writer.fetchval(sql, *arguments)
        except Exception as error:
            if faults.fault_of(error) is not faults.Fault.OUTCOME_UNKNOWN:
                raise
            self._metrics.store_losses.add()
            logger.warning("lost the database in a write, looking what became of it: %s", error)
            await self._database.reopen_writer()
            return self._database.batch == self._batch
        self._database.committed(self._batch)
        self._metrics.commit_seconds.add(self._clock.monotonic() - began)
        if self._refused:
            logger.info("the database takes writes again")
            self._refused = ""
        return True

    async def _not_stored(self, batch: list[Submission], error: Exception) -> None:
        """Postgres refused the batch: try its members singly, so that only the guilty one fails."""
        if faults.fault_of(error) is faults.Fault.UNAVAILABLE or not batch:
            # Without what asyncpg adds in further lines.
            reason = str(error).partition("\n")[0]
            if not self._refused:
                logger.error("the database refuses writes: %s", reason)
            self._refused = reason
            self._metrics.store_refusals.add()
            refusal = Refusal("store_unavailable", f"The database refuses writes now: {reason}.")
            for submission in batch:
                submission.fail(submission.fault or refusal)
            raise refusal
        if len(batch) == 1:
            logger.error("the database refused %s: %s", _named(batch[0]), error)
            batch[0].fail(error)
            return
        for submission in batch:
            with contextlib.suppress(Refusal):  # its own caller has been told
                await self._store([submission], with_positions=False)


def _named(submission: Submission) -> str:
    """A command for the log, without what anybody has written."""
    return type(submission.command).__name__


def _characters(command: Command) -> int:
    """Of what it would store, about."""
    return sum(len(draft.body) for draft in command.drafts) if isinstance(command, Post) else 0


def _settle(flushes: list[asyncio.Future[None]], refusal: Refusal | None) -> None:
    for flush in flushes:
        if flush.done():
            continue
        if refusal:
            flush.set_exception(refusal)
        else:
            flush.set_result(None)
