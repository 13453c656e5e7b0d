"""The numbers of /metrics that parts of the daemon keep anyway, read when they are asked for."""

from __future__ import annotations

import asyncio

from coordroomsd.api.services import Services
from coordroomsd.live.metrics import Metrics
from coordroomsd.live.timers import Timers
from coordroomsd.store.database import Database


def observe_all(metrics: Metrics, services: Services, timers: Timers, database: Database) -> None:
    hub, journal, positions = services.hub, services.journal, services.positions
    observe = metrics.observe
    observe("waiters", "Calls parked in a wait", lambda: hub.statistics().waiting)
    observe("streams", "Open event streams", lambda: hub.statistics().streaming)
    observe(
        "waiters_limit",
        "How many waits and streams there may be: [limits] max_waiters",
        lambda: hub.max_waiters,
    )
    observe(
        "connections_limit",
        "How many connections there may be: [limits] max_connections, or what descriptors allow",
        lambda: services.connections.most,
    )
    observe("tasks", "Tasks of the event loop", lambda: len(asyncio.all_tasks()))
    observe("rooms_loaded", "Rooms in memory", lambda: len(services.rooms))
    observe("queue", "Calls that wait for the journal", lambda: len(journal))
    observe("deadlines", "Rooms with a deadline ahead", lambda: len(timers))
    observe("buckets", "Rate limits that are not full", lambda: len(services.buckets))
    observe("positions_unsaved", "Positions not yet stored", lambda: len(positions))
    observe(
        "positions_lag_seconds",
        "How long there have been positions that are not stored",
        journal.positions_lag_s,
    )
    observe(
        "store_up",
        "1 while the database takes writes, as far as is known without writing",
        lambda: float(journal.takes_writes),
    )
    metrics.observe_by(
        "read_sessions",
        "Sessions that read: open, in_use, and asking, which is reads that wait for one",
        "state",
        lambda: dict(database.reads.statistics()._asdict()),
    )
    if database.free_bytes is not None:
        observe(
            "store_free_bytes",
            "Free space on the disk of the private database",
            lambda: database.free_bytes or 0,
        )
