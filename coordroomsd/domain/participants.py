"""Who takes part: an agent's session or a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ParticipantKind = Literal["agent", "human"]
Role = Literal["agent", "human", "operator"]


@dataclass(frozen=True, slots=True)
class Author:
    """A member as events name it; made once per membership and shared by all its events."""

    membership_id: int
    conversation_id: str
    name: str
    kind: ParticipantKind


@dataclass(frozen=True, slots=True)
class Actor:
    """The participant that a call acts for; perhaps not known to the store yet."""

    project: str
    conversation_id: str
    kind: ParticipantKind
    role: Role

    @property
    def name(self) -> str:
        return display_name(self.conversation_id)


@dataclass(frozen=True, slots=True)
class Participant:
    """A participant that the store knows."""

    id: int
    project: str
    conversation_id: str
    kind: ParticipantKind
    role: Role
    # The one room of kind `room` it is active in.
    active_room_id: int | None = None
    # The room it was active in last; stays when it leaves.
    last_room_id: int | None = None

    @property
    def name(self) -> str:
        return display_name(self.conversation_id)

    @property
    def actor(self) -> Actor:
        return Actor(self.project, self.conversation_id, self.kind, self.role)


def display_name(conversation_id: str) -> str:
    """Who acts as `<name>/<anything>` is called `<name>`."""
    return conversation_id.split("/", 1)[0] or conversation_id
