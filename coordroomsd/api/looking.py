"""Looking at a room's log from a number on: what a wait is answered with, and what ends it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from coordroomsd.api.views import gap_view
from coordroomsd.domain.members import reference
from coordroomsd.domain.wake import Interest
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.live.tail import Entry
from coordroomsd.store import history
from coordroomsd.store.reads import Reader

MAX_WOKEN_BY = 10
# A room whose waiters all begin elsewhere would keep a look for each.
_MAX_SHARED = 64


@dataclass(slots=True)
class Look:
    """Others' events after `after_seq`, the oldest first, as far as they go on one page."""

    after_seq: int
    entries: list[Entry]
    woken_by: list[int]
    next_after_seq: int
    latest_seq: int
    has_more: bool
    # As whole answers, by their reason: encoded once for all who are shown the same.
    answers: dict[str, bytes] = field(default_factory=dict)


class SharedLook(NamedTuple):
    """A look that is the same for all but these authors, who have events of their own in it."""

    authors: frozenset[int]
    look: Look


async def look(
    reader: Reader,
    room: LiveRoom,
    after_seq: int,
    limit: int,
    membership_id: int,
    interest: Interest,
) -> Look:
    """From memory when the tail reaches back far enough, else from the store."""
    found = look_at_tail(room, after_seq, limit, membership_id, interest)
    return found or await _look_at_store(reader, room, after_seq, limit, membership_id, interest)


def look_at_tail(
    room: LiveRoom, after_seq: int, limit: int, membership_id: int, interest: Interest
) -> Look | None:
    """None when the tail does not hold everything after `after_seq`."""
    key = (after_seq, limit, interest)
    shared: SharedLook | None = room.tail.shared.get(key)
    if shared and membership_id not in shared.authors:
        return shared.look
    tail = room.tail.after(after_seq)
    if tail is None:
        return None
    others = [entry for entry in tail if not entry.event.by(membership_id)]
    wakers = [entry.event.seq for entry in others if interest.woken_by(entry.event)]
    has_more = len(others) > limit
    found = _page(after_seq, others[:limit], wakers[:MAX_WOKEN_BY], has_more, room.state.head)
    if len(others) == len(tail) and len(room.tail.shared) < _MAX_SHARED:
        authors = frozenset(e.event.who.membership_id for e in tail if not e.event.by_daemon)
        room.tail.shared[key] = SharedLook(authors, found)
    return found


async def _look_at_store(
    reader: Reader,
    room: LiveRoom,
    after_seq: int,
    limit: int,
    membership_id: int,
    interest: Interest,
) -> Look:
    state = room.state
    found = await history.events_by_others(reader, state, after_seq, limit, membership_id)
    wakers = await history.wakers(reader, state.id, after_seq, membership_id, interest)
    entries = [Entry(event) for event in found.events]
    # What is committed but not yet published comes with a later look, which the publishing causes.
    published = [seq for seq in wakers if seq <= state.head]
    return _page(after_seq, entries, published, found.has_more, state.head)


def _page(
    after_seq: int, entries: list[Entry], wakers: list[int], has_more: bool, head: int
) -> Look:
    next_after_seq = entries[-1].event.seq if has_more else head
    return Look(after_seq, entries, wakers, next_after_seq, head, has_more)


def answer(room: LiveRoom, found: Look, generation: str, reason: str) -> bytes:
    """A look as the whole answer to a wait."""
    encoded = found.answers.get(reason)
    if encoded is None:
        encoded = found.answers[reason] = encode(room, found, generation, reason=reason)
    return encoded


def encode(room: LiveRoom, found: Look, generation: str, *, reason: str | None) -> bytes:
    """A look as JSON, made of each event's shared bytes; with `reason` it is a whole answer."""
    opening: dict[str, object] = {}
    if reason is not None:
        opening = {"room": reference(room.state), "reason": reason}
    opening["woken_by"] = found.woken_by if reason in (None, "event") else []
    rest = {
        "next_after_seq": found.next_after_seq,
        "latest_seq": found.latest_seq,
        "has_more": found.has_more,
        "retention_gap": gap_view(room, found.after_seq),
        "generation": generation,
    }
    return b"".join(
        (
            orjson.dumps(opening)[:-1],
            b',"events":[',
            b",".join([entry.encoded for entry in found.entries]),
            b"],",
            orjson.dumps(rest)[1:],
        )
    )
