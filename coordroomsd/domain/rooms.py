"""A room's state: what its log amounts to. `evolve` is the only way from one state to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

from coordroomsd.domain.events import Event, Lease, StatusLine
from coordroomsd.domain.participants import Author

RoomKind = Literal["room", "peer", "admin"]


@dataclass(frozen=True, slots=True)
class Member:
    """A participant's place in a room; stays, inactive, when it leaves."""

    author: Author
    participant_id: int
    active: bool
    created_at: datetime

    @property
    def id(self) -> int:
        return self.author.membership_id


@dataclass(frozen=True, slots=True)
class Status:
    status: str
    since: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Claim:
    key: str
    holder: Author
    since: datetime
    expires_at: datetime
    fence: int
    proposed_by_seq: int | None


def _nothing() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Room:
    """One room as its log has made it, up to event `head` (0: no event yet).

    A state is never changed, so whoever holds one holds a consistent view.
    """

    id: int
    project: str
    kind: RoomKind
    name: str | None
    slug: str | None
    created_at: datetime
    head: int = 0
    # Retention may have removed what comes before.
    first_seq: int = 1
    max_age_s: int | None = None
    max_events: int | None = None
    # By participant, and the same by membership.
    members: Mapping[int, Member] = field(default_factory=_nothing)
    memberships: Mapping[int, Member] = field(default_factory=_nothing)
    # By membership.
    statuses: Mapping[int, Status] = field(default_factory=_nothing)
    # By key.
    claims: Mapping[str, Claim] = field(default_factory=_nothing)
    # The earliest end of a status or claim: nothing can be overdue before it.
    next_deadline: datetime | None = None

    def before_any_event(self) -> Room:
        """The room as it was made: nobody in it, nothing said."""
        return Room(
            self.id, self.project, self.kind, self.name, self.slug, created_at=self.created_at
        )

    def at_head(self, head: int) -> Room:
        """The state after events that change nothing else."""
        return replace(self, head=head)

    def with_member(self, member: Member) -> Room:
        return replace(
            self,
            members={**self.members, member.participant_id: member},
            memberships={**self.memberships, member.id: member},
        )

    def with_everything(
        self,
        memberships: Mapping[int, Member],
        statuses: Mapping[int, Status],
        claims: Mapping[str, Claim],
    ) -> Room:
        """The state as the tables beside the log keep it."""
        members = {member.participant_id: member for member in memberships.values()}
        return _with_deadline(
            replace(
                self, members=members, memberships=memberships, statuses=statuses, claims=claims
            )
        )

    def with_status(self, membership_id: int, status: Status | None) -> Room:
        statuses = {k: v for k, v in self.statuses.items() if k != membership_id}
        if status:
            statuses[membership_id] = status
        return _with_deadline(replace(self, statuses=statuses))

    def with_claim(self, key: str, claim: Claim | None) -> Room:
        claims = {k: v for k, v in self.claims.items() if k != key}
        if claim:
            claims[key] = claim
        return _with_deadline(replace(self, claims=claims))

    def without_overdue(self, now: datetime, head: int) -> Room:
        """The state after all that ran out by `now` has ended, the last event being `head`."""
        statuses = {k: v for k, v in self.statuses.items() if v.expires_at > now}
        claims = {k: v for k, v in self.claims.items() if v.expires_at > now}
        return _with_deadline(replace(self, head=head, statuses=statuses, claims=claims))


def _with_deadline(room: Room) -> Room:
    ends = [status.expires_at for status in room.statuses.values()]
    ends += [claim.expires_at for claim in room.claims.values()]
    return replace(room, next_deadline=min(ends, default=None))


def evolve(room: Room, event: Event) -> Room:
    """The state after `event`, which must be the next one of this room.

    A `joined` of someone new needs its member in the state already: `with_member` first.
    """
    assert event.seq == room.head + 1, f"event {event.seq} after {room.head}"
    room = room.at_head(event.seq)
    match event.type, event.reason, event.payload:
        case "member", reason, _:
            member = room.memberships[event.who.membership_id]
            return room.with_member(replace(member, active=reason == "joined"))
        case "status", "set", StatusLine(status, since, expires_at):
            return room.with_status(event.who.membership_id, Status(status, since, expires_at))
        case "status", _, _:
            return room.with_status(event.who.membership_id, None)
        case "claim", "claimed", Lease(key, fence, expires_at, proposed_by_seq):
            claim = Claim(key, event.who, event.at, expires_at, fence, proposed_by_seq)
            return room.with_claim(key, claim)
        case "claim", "renewed", Lease(key, _, expires_at, proposed_by_seq):
            renewed = replace(
                room.claims[key], expires_at=expires_at, proposed_by_seq=proposed_by_seq
            )
            return room.with_claim(key, renewed)
        case "claim", _, Lease(key):
            return room.with_claim(key, None)
        case _:
            return room
