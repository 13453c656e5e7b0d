"""What a command is: a wish about one room, decided against everything that was decided before it.

The journal takes commands in order. For each it gathers what `needs` names, then calls `decide`,
which either raises a Refusal, leaving nothing behind, or returns what is to be stored. `decide`
never waits and never looks elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from coordroomsd.domain.events import Event
from coordroomsd.domain.identities import Enrolled, Enrollment
from coordroomsd.domain.participants import Actor, Author, Participant
from coordroomsd.domain.rooms import Room, Status


class StoredMessage(NamedTuple):
    """What rules need to know of a message that is stored already."""

    kind: str
    body: str
    author: Author


class HeldReaction(NamedTuple):
    membership_id: int
    reaction: str


class Counted(NamedTuple):
    """How many messages by others the store has after a caller's number, up to `through_seq`.

    Made before a command is queued, where a long count holds up nobody.
    """

    messages: int
    through_seq: int


class Needs(NamedTuple):
    """What a command must have at hand; the journal loads whatever memory does not hold."""

    room_id: int | None = None
    actor: Actor | None = None
    others: tuple[Actor, ...] = ()
    slug: tuple[str, str] | None = None
    pair: tuple[Actor, Actor] | None = None
    messages: tuple[int, ...] = ()
    reactions_of: int | None = None
    unseen_after: int | None = None
    counted: Counted | None = None
    # A project and a name that somebody is to be enrolled under.
    name: tuple[str, str] | None = None
    # The hash of an enrolment code.
    code_hash: bytes | None = None


class View(Protocol):
    """The world as the commands before have left it."""

    @property
    def now(self) -> datetime: ...

    def new_id(self) -> int: ...

    def room(self, room_id: int) -> Room: ...

    def participant(self, actor: Actor) -> Participant | None: ...

    def room_of_slug(self, project: str, slug: str) -> Room | None: ...

    def conversation_of(self, pair: tuple[int, int]) -> Room | None: ...

    def message(self, room_id: int, seq: int) -> StoredMessage | None:
        """None when there is no such message, or no more."""

    def reactions(self, room_id: int, message_id: int) -> frozenset[HeldReaction]: ...

    def unseen(self, room_id: int, after_seq: int, membership_id: int) -> int:
        """How many messages by others lie after `after_seq`."""

    def enrolled(self, project: str, name: str) -> Enrolled | None: ...

    def enrollment(self, code_hash: bytes) -> Enrollment | None: ...

    def is_used(self, project: str, name: str) -> bool:
        """Whether a participant acts, or has acted, under the name or as `<name>/<anything>`."""

    def generation(self) -> str: ...

    def spend(
        self, bucket: str, participant: Participant | Actor, cost: int, room_id: int = 0
    ) -> None:
        """Take from a bucket. Raises `rate_limited`."""

    def spend_all(
        self, costs: Mapping[str, int], participant: Participant | Actor, room_id: int = 0
    ) -> None:
        """Take from several, or from none. Raises `rate_limited`."""


class Decision(NamedTuple):
    """What one command changes, and `result`, from which its answer is made.

    `room` is the state that `events` lead to; None when the command touches no room.
    """

    result: Any
    room: Room | None = None
    events: tuple[Event, ...] = ()
    room_is_new: bool = False
    pair: tuple[int, int] | None = None
    participants: tuple[Participant, ...] = ()
    # A status whose end moved without an event.
    extended: tuple[tuple[int, Status], ...] = ()
    # What the held reactions of a message are after it.
    reactions: tuple[int, frozenset[HeldReaction]] | None = None
    # Remove what lies before the room's first number.
    removes: bool = False
    offered: Enrollment | None = None
    used_code: bytes | None = None
    enrolled: Enrolled | None = None


class Command(Protocol):
    """Frozen; made by api/, decided in the journal."""

    def needs(self) -> Needs: ...

    def decide(self, view: View) -> Decision: ...


@dataclass(frozen=True, slots=True)
class Cursor:
    """A number that a caller sent, with the generation it belongs to, if it said so."""

    after_seq: int | None = None
    generation: str | None = None


NO_CURSOR = Cursor()


@dataclass(frozen=True, slots=True)
class Condition:
    """`if_claim`: the claim that the caller must hold for its messages to be stored."""

    key: str
    fence: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A message as a caller wrote it."""

    kind: str
    body: str
    reply_to: int | None = None
