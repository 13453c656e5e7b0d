"""What the calls work with, made once by app.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coordroomsd.clock import Clock
from coordroomsd.domain.conversations import PeerPolicy
from coordroomsd.journal.following import Following
from coordroomsd.journal.journal import Journal
from coordroomsd.live.buckets import Buckets
from coordroomsd.live.connections import Connections
from coordroomsd.live.metrics import Metrics
from coordroomsd.live.participants import Participants
from coordroomsd.live.people import People
from coordroomsd.live.positions import Positions
from coordroomsd.live.refusals import Refusals
from coordroomsd.live.rooms import Rooms
from coordroomsd.live.tracing import Tracing
from coordroomsd.live.unindexed import Unindexed
from coordroomsd.live.waiters import Hub
from coordroomsd.live.wakes import Wakes
from coordroomsd.store.read_pools import ReadPool


@dataclass(frozen=True, slots=True)
class Services:
    reads: ReadPool
    rooms: Rooms
    participants: Participants
    positions: Positions
    journal: Journal
    # Keeps up with other daemons on the database, where there are any.
    following: Following
    hub: Hub
    unindexed: Unindexed
    clock: Clock
    people: People
    wakes: Wakes
    buckets: Buckets
    # The one in force at the moment.
    peer_policy: Callable[[], PeerPolicy]
    generation: str
    # A number from 0 up to 1, for time-outs that do not fall together.
    jitter: Callable[[], float]
    # A code or token that nobody can guess.
    new_secret: Callable[[], str]
    # Have retention look at its policies now.
    hasten_sweep: Callable[[], None]
    metrics: Metrics
    refusals: Refusals
    connections: Connections
    tracing: Tracing
