"""Rooms of two: who may open one, and what its members are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from coordroomsd.domain.commands import Decision, Needs, View
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.members import introduced
from coordroomsd.domain.participants import Actor, Author, Participant
from coordroomsd.domain.rooms import Member, Room


class Opened(NamedTuple):
    room: Room
    is_new: bool


@dataclass(frozen=True, slots=True)
class PeerPolicy:
    """Who may open a peer thread: everybody, or the pairs that are listed, by id or by name."""

    policy: Literal["open", "listed"] = "open"
    peers: tuple[tuple[str, str], ...] = ()

    def allows(self, one: Participant, other: Participant) -> bool:
        if self.policy == "open":
            return True
        names = ({one.conversation_id, one.name}, {other.conversation_id, other.name})
        return any(
            (a in names[0] and b in names[1]) or (b in names[0] and a in names[1])
            for a, b in self.peers
        )


@dataclass(frozen=True, slots=True)
class OpenConversation:
    """The conversation of two participants, made when there is none yet."""

    actor: Actor
    other: Actor
    policy: PeerPolicy

    def needs(self) -> Needs:
        return Needs(actor=self.actor, others=(self.other,), pair=(self.actor, self.other))

    def decide(self, view: View) -> Decision:
        other = view.participant(self.other)
        if other is None:
            raise Refusal(
                "participant_not_found", f"There is no participant {self.other.conversation_id!r}."
            )
        known = view.participant(self.actor)
        one = known or introduced(view, self.actor)
        is_admin = "operator" in (one.role, other.role)
        if not is_admin and not self.policy.allows(one, other):
            raise Refusal(
                "forbidden",
                f"{one.conversation_id} and {other.conversation_id} may not have a thread: "
                "the daemon lists the pairs that may.",
            )
        pair = (min(one.id, other.id), max(one.id, other.id))
        if room := view.conversation_of(pair):
            return Decision(Opened(room, is_new=False))
        view.spend("room", self.actor, 1)
        room = Room(
            view.new_id(),
            self.actor.project,
            "admin" if is_admin else "peer",
            None,
            None,
            created_at=view.now,
        )
        for participant in (one, other):
            room = room.with_member(_party(view, participant))
        return Decision(
            Opened(room, is_new=True),
            room,
            room_is_new=True,
            pair=pair,
            participants=() if known else (one,),
        )


def _party(view: View, participant: Participant) -> Member:
    author = Author(view.new_id(), participant.conversation_id, participant.name, participant.kind)
    return Member(author, participant.id, active=True, created_at=view.now)
