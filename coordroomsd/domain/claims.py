"""Claims: leases on named pieces of work, of which exactly one caller holds each.

A claim informs; it does not stop a slow peer. `fence`, the number of the event that granted it,
tells one lease from the next (M. Kleppmann, "How to do distributed locking", 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from coordroomsd.domain.commands import Decision, Needs, View
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.events import Lease, author_wire
from coordroomsd.domain.log import Log
from coordroomsd.domain.members import active_member, reference, refuse_in_conversations
from coordroomsd.domain.participants import Actor
from coordroomsd.domain.reactions import message_not_found
from coordroomsd.domain.rooms import Claim, Room
from coordroomsd.domain.text import instant


class Claimed(NamedTuple):
    room: Room
    claim: Claim
    renewed: bool


class Released(NamedTuple):
    room: Room
    released: bool


@dataclass(frozen=True, slots=True)
class ClaimKey:
    """Claim a key, or renew one's own claim. With `fence` it only ever renews that lease."""

    actor: Actor
    room_id: int
    key: str
    lease_s: int
    proposed_by_seq: int | None = None
    fence: int | None = None

    def needs(self) -> Needs:
        proposals = () if self.proposed_by_seq is None else (self.proposed_by_seq,)
        return Needs(room_id=self.room_id, actor=self.actor, messages=proposals)

    def decide(self, view: View) -> Decision:
        room = view.room(self.room_id)
        refuse_in_conversations(room, "claimed in")
        participant, member = active_member(view, room, self.actor)
        if self.proposed_by_seq is not None and not view.message(room.id, self.proposed_by_seq):
            raise message_not_found(room, self.proposed_by_seq)
        # Before the conflict, so that nobody polls by claiming.
        view.spend("claim", participant, 1, room.id)
        log = Log(room, view.now)
        if self.fence is not None:
            refuse_unless_held(log.room, member.id, self.key, self.fence)
        held = log.room.claims.get(self.key)
        ends = view.now + timedelta(seconds=self.lease_s)
        if held is None:
            fence = log.room.head + 1
            lease = Lease(self.key, fence, ends, self.proposed_by_seq)
            log.append("claim", "claimed", member.author, lease)
        elif held.holder.membership_id == member.id:
            proposal = self.proposed_by_seq or held.proposed_by_seq
            lease = Lease(self.key, held.fence, max(ends, held.expires_at), proposal)
            log.append("claim", "renewed", member.author, lease)
        else:
            raise Refusal(
                "claim_conflict",
                f"{held.holder.name} holds {self.key!r} until {instant(held.expires_at)}.",
                holder=author_wire(held.holder),
                expires_at=instant(held.expires_at),
                fence=held.fence,
                room=reference(room),
            )
        claimed = Claimed(log.room, log.room.claims[self.key], renewed=held is not None)
        return Decision(claimed, log.room, tuple(log.events))


@dataclass(frozen=True, slots=True)
class Release:
    """Give a claim back. Nobody holding it is fine; another holding it is not."""

    actor: Actor
    room_id: int
    key: str
    fence: int | None = None

    def needs(self) -> Needs:
        return Needs(room_id=self.room_id, actor=self.actor)

    def decide(self, view: View) -> Decision:
        room = view.room(self.room_id)
        refuse_in_conversations(room, "claimed in")
        _, member = active_member(view, room, self.actor)
        log = Log(room, view.now)
        held = log.room.claims.get(self.key)
        if held or self.fence is not None:
            refuse_unless_held(log.room, member.id, self.key, self.fence)
        if held:
            log.end_claim(held, "released")
        return Decision(Released(log.room, held is not None), log.room, tuple(log.events))


@dataclass(frozen=True, slots=True)
class EndOverdue:
    """End whatever has run out in a room; the clock's own command, and no caller's."""

    room_id: int

    def needs(self) -> Needs:
        return Needs(room_id=self.room_id)

    def decide(self, view: View) -> Decision:
        log = Log(view.room(self.room_id), view.now)
        return Decision(None, log.room, tuple(log.events))


def refuse_unless_held(room: Room, membership_id: int, key: str, fence: int | None) -> None:
    """Raises `not_claim_holder` unless the member holds the key, under `fence` if given."""
    held = room.claims.get(key)
    if held is None:
        raise Refusal(
            "not_claim_holder",
            f"Nobody holds {key!r} in room {reference(room)} now.",
            holder=None,
            expires_at=None,
            room=reference(room),
        )
    if held.holder.membership_id == membership_id and fence in (None, held.fence):
        return
    stale = held.holder.membership_id == membership_id
    raise Refusal(
        "not_claim_holder",
        f"The fence {fence} is of an earlier lease; {key!r} is held under {held.fence}."
        if stale
        else f"{held.holder.name} holds {key!r} until {instant(held.expires_at)}.",
        holder=author_wire(held.holder),
        expires_at=instant(held.expires_at),
        room=reference(room),
    )
