"""What has to be done though nobody calls: ending what runs out, and forgetting what is kept for a time."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from coordroomsd.api.pipeline import refusal_of
from coordroomsd.clock import Clock
from coordroomsd.domain.claims import EndOverdue
from coordroomsd.domain.errors import Refusal
from coordroomsd.journal.journal import Journal
from coordroomsd.journal.submissions import Answer
from coordroomsd.live.timers import Timers
from coordroomsd.store import reads, upkeep
from coordroomsd.store.database import Database

logger = logging.getLogger(__name__)

# How far ahead deadlines are looked up, for rooms that are not loaded, and how often.
DEADLINES_AHEAD = timedelta(seconds=120)
LOOK_FOR_DEADLINES_EVERY_S = 60.0
RETRY_AFTER = timedelta(seconds=1)
# How long an answer is kept for retries under its key: the contract's promise.
KEEP_ANSWERS = timedelta(days=7)
FORGET_ANSWERS_EVERY_S = 3600.0


async def end_what_runs_out(journal: Journal, timers: Timers, clock: Clock) -> None:
    """Let the journal end statuses and claims at their deadlines. Runs until cancelled."""

    async def end_in(room_id: int) -> None:
        try:
            await journal.execute(EndOverdue(room_id), lambda _, __: Answer(200, b""))
        except Refusal as refusal:
            logger.warning("what ran out in a room has to wait: %s", refusal)
            timers.arm(room_id, clock.now() + RETRY_AFTER)

    while True:
        due = await timers.due()
        await asyncio.gather(*map(end_in, due))


async def arm_deadlines(database: Database, timers: Timers, clock: Clock) -> None:
    for room_id, deadline in await reads.deadlines(database.reads, clock.now() + DEADLINES_AHEAD):
        timers.arm(room_id, deadline)


async def look_for_deadlines(database: Database, timers: Timers, clock: Clock) -> None:
    """Runs until cancelled."""
    while True:
        await asyncio.sleep(LOOK_FOR_DEADLINES_EVERY_S)
        try:
            await arm_deadlines(database, timers, clock)
        except Exception as error:
            logger.warning("could not look for deadlines: %s", refusal_of(error).detail)


async def forget_answers(database: Database, clock: Clock) -> None:
    """Runs until cancelled."""
    while True:
        try:
            await upkeep.forget_answers(database, clock.now() - KEEP_ANSWERS)
        except Exception as error:
            logger.warning("could not forget old answers: %s", refusal_of(error).detail)
        await asyncio.sleep(FORGET_ANSWERS_EVERY_S)
