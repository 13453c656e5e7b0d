"""The daemon put together: the database below, the calls above, the tasks in between."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import random
import resource
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from coordroomsd import readings, telemetry
from coordroomsd.api.pipeline import Api, refusal_of
from coordroomsd.api.services import Services
from coordroomsd.chores import (
    Sweeping,
    arm_deadlines,
    end_what_runs_out,
    forget_what_is_old,
    index_words,
    look_at_the_loop,
    look_for_deadlines,
)
from coordroomsd.clock import Clock, FollowingClock, SteadyClock
from coordroomsd.cluster import Cluster
from coordroomsd.config import Config
from coordroomsd.domain import ids
from coordroomsd.domain.conversations import PeerPolicy
from coordroomsd.domain.errors import Refusal
from coordroomsd.journal.following import Alone, Together
from coordroomsd.journal.gathering import Gathering
from coordroomsd.journal.journal import Journal
from coordroomsd.journal.publishing import Publishing
from coordroomsd.live.buckets import Buckets, Limit
from coordroomsd.live.buses import Bus
from coordroomsd.live.connections import Connections
from coordroomsd.live.metrics import Metrics
from coordroomsd.live.participants import Participants
from coordroomsd.live.people import People
from coordroomsd.live.positions import Positions
from coordroomsd.live.refusals import Refusals
from coordroomsd.live.rooms import Rooms
from coordroomsd.live.timers import Timers
from coordroomsd.live.tracing import Tracing
from coordroomsd.live.unindexed import Unindexed
from coordroomsd.live.waiters import Hub
from coordroomsd.live.wakes import Wakes
from coordroomsd.settings import Limits
from coordroomsd.store import reads
from coordroomsd.store.database import Database
from coordroomsd.store.notifications import Notifications
from coordroomsd.store.private_postgres import PrivatePostgres
from coordroomsd.store.sharing import Member

logger = logging.getLogger(__name__)

# Sessions with the database, files, listeners, and what a connection that is turned away takes.
KEPT_DESCRIPTORS = 128
KIB = 1024
# The last batch and the last positions; a database that is away then would hold up the end.
CLOSE_WITHIN_S = 5.0


@dataclass(frozen=True, slots=True)
class Daemon:
    """A daemon that can serve calls. `failed` is done when it has to end, with the reason."""

    api: Api
    hub: Hub
    people: People
    metrics: Metrics
    failed: asyncio.Future[None]
    database: Database
    # Put into force what RELOADED keys say now.
    adopt: Callable[[Config], None]

    async def ready(self) -> None:
        """Raises the Refusal that a call would meet."""
        try:
            async with asyncio.timeout(2):
                await self.database.reads.fetchval("SELECT 1")
        except TimeoutError:
            raise Refusal("store_unavailable", "The database does not answer.") from None
        except Exception as error:
            raise refusal_of(error) from None


@asynccontextmanager
async def opened(config: Config) -> AsyncIterator[Daemon]:
    """A daemon with the database that the configuration names, from ready to closed.

    Raises StoreError when the database cannot be had, ConfigurationError when a package is missing.
    """
    telemetry.check(config.tracing)
    owner = f"{socket.gethostname()}, pid {os.getpid()}"
    if config.database.url is not None:
        member = _member(config, owner)
        async with _with_database(
            config, await Database.open(config.database.url, owner=owner, member=member)
        ) as daemon:
            yield daemon
        return
    server = PrivatePostgres(config.state_dir, config.database.run_as)
    await server.start()
    try:
        database = await Database.open(server.connect_arguments(), owner=owner, data=server.data)
        async with _with_database(config, database) as daemon:
            yield daemon
    finally:
        await server.stop()


def _member(config: Config, owner: str) -> Member | None:
    """Who this daemon is to those that it shares the database with."""
    if config.cluster.bus == "none":
        return None
    return Member(secrets.randbits(62), owner, config.cluster.bus)


@asynccontextmanager
async def _with_database(config: Config, database: Database) -> AsyncIterator[Daemon]:
    try:
        async with running(config, database) as daemon:
            yield daemon
    finally:
        await database.close()


@asynccontextmanager
async def running(
    config: Config,
    database: Database,
    *,
    clock: Clock | None = None,
    jitter: Callable[[], float] = random.random,
    bus: Bus | None = None,
) -> AsyncIterator[Daemon]:
    """A daemon on an open database, which stays open. Without `clock` the database's time counts.

    `jitter` gives numbers from 0 up to 1. `bus` is one to others on a database that is shared, in
    place of the database's own.
    """
    kind_of_clock = FollowingClock if database.member else SteadyClock
    clock = clock or kind_of_clock(await database.writer.fetchval("SELECT clock_timestamp()"))
    async with (
        telemetry.opened(config.tracing, clock.monotonic) as tracing,
        _running(config, database, clock, jitter, tracing, bus) as daemon,
    ):
        yield daemon


@asynccontextmanager
async def _running(
    config: Config,
    database: Database,
    clock: Clock,
    jitter: Callable[[], float],
    tracing: Tracing,
    bus: Bus | None,
) -> AsyncIterator[Daemon]:
    failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    rooms, participants = Rooms(database.reads), Participants(database.reads)
    positions, buckets = Positions(), Buckets(_limits(config.limits), clock)

    limits = config.limits
    hub = Hub(limits.max_waiters, limits.max_waiters_per_participant)
    connections = Connections(_most_connections(limits), limits.max_connections_per_peer)
    timers, metrics = Timers(clock), Metrics()
    version, enrolled = await reads.enrolled_now(database.reads)
    people = People(enrolled, version)
    unindexed = Unindexed(await reads.unindexed(database.reads))
    together, cluster = None, None
    if member := database.member:
        lost = functools.partial(_fail, failed)
        together = Together(
            database.reads,
            member.id,
            rooms,
            participants,
            people,
            hub,
            timers,
            unindexed,
            clock,
            lost,
        )
        cluster = Cluster(
            database,
            member,
            bus or Notifications(database),
            together,
            rooms,
            timers,
            clock,
            metrics,
            lost,
        )
    sweeping = Sweeping(
        database, clock, config.retention, (lambda: cluster.leads) if cluster else (lambda: True)
    )
    journal = Journal(
        database,
        Gathering(rooms, participants),
        Publishing(
            rooms,
            participants,
            timers,
            people,
            hub,
            unindexed,
            cluster.tell if cluster else None,
        ),
        positions,
        buckets,
        people,
        metrics,
        clock,
        ids.NewIds(secrets.randbits),
        together,
    )
    services = Services(
        database.reads,
        rooms,
        participants,
        positions,
        journal,
        together or Alone(unindexed),
        hub,
        unindexed,
        clock,
        people,
        Wakes(),
        buckets,
        lambda: PeerPolicy(in_force.conversations.peer_policy, in_force.conversations.peers),
        database.generation,
        jitter,
        new_secret,
        sweeping.hasten,
        metrics,
        Refusals(metrics),
        connections,
        tracing,
    )

    in_force = config

    def adopt(config: Config) -> None:
        nonlocal in_force
        in_force = config
        buckets.limits = _limits(config.limits)
        hub.max_waiters = config.limits.max_waiters
        hub.max_of_one = config.limits.max_waiters_per_participant
        connections.most = _most_connections(config.limits)
        connections.most_of_one = config.limits.max_connections_per_peer
        sweeping.keep(config.retention)

    readings.observe_all(metrics, services, timers, database)
    if cluster:
        metrics.observe("daemons", "Daemons on the database", lambda: 1 + cluster.others)
    await arm_deadlines(database, timers, clock)
    writing = asyncio.create_task(journal.run(), name="journal")
    chores = [
        asyncio.create_task(journal.flush_positions_regularly(), name="positions"),
        asyncio.create_task(end_what_runs_out(journal, timers, clock), name="timers"),
        asyncio.create_task(look_for_deadlines(database, timers, clock), name="deadlines"),
        asyncio.create_task(forget_what_is_old(database, clock), name="upkeep"),
        asyncio.create_task(sweeping.run(journal), name="retention"),
        asyncio.create_task(index_words(database, unindexed, clock), name="search"),
        asyncio.create_task(look_at_the_loop(metrics, clock), name="loop"),
    ]
    if cluster:
        chores += [
            asyncio.create_task(cluster.listen(), name="bus"),
            asyncio.create_task(cluster.look(), name="hints"),
            asyncio.create_task(cluster.sweep(), name="sweep"),
        ]
    for task in (writing, *chores):
        task.add_done_callback(lambda task: _report(task, failed))
    try:
        yield Daemon(Api(services), hub, people, metrics, failed, database, adopt)
    finally:
        for chore in chores:
            chore.cancel()
        await asyncio.wait(chores)
        journal.close()
        await asyncio.wait([writing], timeout=CLOSE_WITHIN_S)
        writing.cancel()
        await asyncio.wait([writing])
        if cluster:
            await cluster.leave()


def new_secret() -> str:
    """A code or token: 256 random bits, in signs that need no quoting anywhere."""
    return secrets.token_urlsafe(32)


def _report(task: asyncio.Task[None], failed: asyncio.Future[None]) -> None:
    """A task that ends by itself ends the daemon: without it, calls would hang."""
    if task.cancelled() or failed.done():
        return
    if error := task.exception():
        logger.critical("%s has failed", task.get_name(), exc_info=error)
        _fail(failed, error)


def _fail(failed: asyncio.Future[None], error: BaseException) -> None:
    if not failed.done():
        failed.set_exception(error)


def _most_connections(limits: Limits) -> int:
    """As configured, but not more than there are descriptors for, beside the daemon's own."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return limits.max_connections
    return min(limits.max_connections, most - min(KEPT_DESCRIPTORS, most // 4))


def _limits(limits: Limits) -> dict[str, Limit]:
    return {
        "message": Limit(limits.message_burst, limits.message_per_s),
        "body": Limit(
            limits.body_kib_burst * KIB, limits.body_kib_per_s * KIB, "bytes in messages"
        ),
        "status": Limit(limits.status_burst, limits.status_per_s),
        "reaction": Limit(limits.reaction_burst, limits.reaction_per_s),
        "claim": Limit(limits.claim_burst, limits.claim_per_s),
        "room": Limit(limits.room_burst, limits.room_per_s),
        # The contract's own numbers; an address is no participant, and nothing configures it.
        "enroll": Limit(10, 0.1),
    }
