"""Parked calls: who waits for what, and waking them.

A wake-up carries no data: it says "look again". A waiter registers, looks, parks, and looks again,
so nothing that is published at any moment in between is slept through.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.events import Event
from coordroomsd.domain.wake import Interest


class Statistics(NamedTuple):
    waiting: int
    streaming: int


class Waiter:
    """One parked call, in one room or in several.

    Belongs to the task that made it. `wake`, `expire` and `end` may be called at any time, by
    anybody, again and again.
    """

    __slots__ = ("_future", "_loop", "_refusal", "credentials", "owner", "timed_out", "woken_at")

    def __init__(
        self, credential: Hashable = None, owner: Hashable = None, session: Hashable = None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self._loop.create_future()
        self._refusal: Exception | None = None
        # What the call came in under: revoking any of it ends the call.
        self.credentials = {one for one in (credential, session) if one is not None}
        # Whose it is: nobody may have more than a part of them.
        self.owner = credential if owner is None else owner
        self.timed_out = False
        # When the events that woke it last had been committed.
        self.woken_at: float | None = None

    def wake(self, committed_at: float | None = None) -> None:
        if not self._future.done():
            self.woken_at = committed_at
            self._future.set_result(None)

    def expire(self) -> None:
        """Its time is up."""
        self.timed_out = True
        self.wake()

    def end(self, refusal: Exception) -> None:
        """Let the parked call raise `refusal`."""
        self._refusal = self._refusal or refusal
        self.wake()

    def rearm(self) -> None:
        """Forget earlier wake-ups. Comes before the look: what is published after wakes again."""
        if self._refusal:
            raise self._refusal
        if self._future.done():
            self._future = self._loop.create_future()

    async def parked(self) -> None:
        """Sleep until woken. Raises what `end` was given."""
        if not self.timed_out:
            await self._future
        if self._refusal:
            raise self._refusal


class RoomWaiters:
    """The waiters of one room, grouped by what they asked for: an event is matched once a group."""

    __slots__ = ("_groups", "_streams", "_waiting", "elsewhere")

    def __init__(self) -> None:
        self._groups: dict[Interest, dict[Waiter, int]] = {}
        self._streams: dict[Waiter, int] = {}
        self._waiting: Counter[int] = Counter()
        # The memberships that calls are parked for at other daemons, as of the last look.
        self.elsewhere: frozenset[int] = frozenset()

    def add(self, waiter: Waiter, interest: Interest, membership_id: int) -> None:
        """Let a member's waiter be woken by others' events that its interest names."""
        self._groups.setdefault(interest, {})[waiter] = membership_id
        self._waiting[membership_id] += 1

    def discard(self, waiter: Waiter, interest: Interest) -> None:
        group = self._groups[interest]
        membership_id = group.pop(waiter)
        if not group:
            del self._groups[interest]
        self._waiting[membership_id] -= 1
        if not self._waiting[membership_id]:
            del self._waiting[membership_id]

    def add_stream(self, waiter: Waiter, membership_id: int) -> None:
        """Let a stream be woken by every event, own ones too; `membership_id` 0: no member's."""
        self._streams[waiter] = membership_id

    def discard_stream(self, waiter: Waiter) -> None:
        self._streams.pop(waiter, None)

    def is_waiting(self, membership_id: int) -> bool:
        return membership_id in self._waiting or membership_id in self.elsewhere

    def wake(self, events: Sequence[Event], committed_at: float | None = None) -> None:
        """Wake whoever asked for one of these events and did not cause all of those."""
        for stream in self._streams:
            stream.wake(committed_at)
        for interest, group in self._groups.items():
            authors = {
                0 if event.by_daemon else event.who.membership_id
                for event in events
                if interest.woken_by(event)
            }
            lets_go = interest.free and any(_lets_go(event, interest.free) for event in events)
            if lets_go or len(authors) > 1 or 0 in authors:
                for waiter in group:
                    waiter.wake(committed_at)
            elif authors:
                [author] = authors
                for waiter, membership_id in group.items():
                    if membership_id != author:
                        waiter.wake(committed_at)

    def wake_all(self, committed_at: float | None = None) -> None:
        """Let everybody look again: more has happened than is known in detail."""
        for group in (*self._groups.values(), self._streams):
            for waiter in group:
                waiter.wake(committed_at)

    def waiting_here(self) -> set[int]:
        """The memberships that calls are parked for at this daemon."""
        return set(self._waiting)

    def end(self, membership_id: int, refusal: Exception) -> None:
        """End the parked calls and streams of one member."""
        for group in (*self._groups.values(), self._streams):
            for waiter, waiting_for in group.items():
                if waiting_for == membership_id:
                    waiter.end(refusal)

    def __len__(self) -> int:
        return sum(map(len, self._groups.values())) + len(self._streams)


def _lets_go(event: Event, keys: frozenset[str]) -> bool:
    return (
        event.type == "claim"
        and event.reason in ("released", "expired", "left")
        and getattr(event.payload, "key", None) in keys
    )


class Hub:
    """All waiters of the daemon: how many there may be, ending some, and closing down."""

    def __init__(self, max_waiters: int, max_of_one: int | None = None) -> None:
        # These may change; whoever is parked already stays.
        self.max_waiters = max_waiters
        self.max_of_one = max_waiters if max_of_one is None else max_of_one
        self._of: Counter[Hashable] = Counter()
        self._waiters: set[Waiter] = set()
        self._streams: set[Waiter] = set()
        # A call may be on its way here while its credential is revoked.
        self._revoked: set[Hashable] = set()
        self.closing = False

    def statistics(self) -> Statistics:
        return Statistics(len(self._waiters), len(self._streams))

    def register(self, waiter: Waiter, *, stream: bool = False) -> None:
        """Raises `too_many_waiters`, or `unauthorized` under a credential that was revoked."""
        if not waiter.credentials.isdisjoint(self._revoked):
            raise Refusal("unauthorized", "The token was revoked while the call came in.")
        if len(self._waiters) + len(self._streams) >= self.max_waiters:
            raise Refusal(
                "too_many_waiters",
                f"{self.max_waiters} calls are parked here, which is this daemon's limit.",
            )
        if self._of[waiter.owner] >= self.max_of_one:
            raise Refusal(
                "too_many_waiters",
                f"{self.max_of_one} calls of this participant are parked here, which is its limit.",
            )
        self._of[waiter.owner] += 1
        (self._streams if stream else self._waiters).add(waiter)

    def discard(self, waiter: Waiter) -> None:
        """Harmless for one that is not registered."""
        for registered in (self._waiters, self._streams):
            if waiter in registered:
                registered.remove(waiter)
                self._of[waiter.owner] -= 1
                if not self._of[waiter.owner]:
                    del self._of[waiter.owner]

    def revoke(self, credential: Hashable, refusal: Exception) -> None:
        """End every call that came in under this credential, which never comes back."""
        self._revoked.add(credential)
        for waiter in [*self._waiters, *self._streams]:
            if credential in waiter.credentials:
                waiter.end(refusal)

    def is_revoked(self, credential: object) -> bool:
        return credential in self._revoked

    def close(self) -> None:
        """Wake everybody to be told that the daemon stops; later callers are told at once."""
        self.closing = True
        for waiter in [*self._waiters, *self._streams]:
            waiter.wake()
