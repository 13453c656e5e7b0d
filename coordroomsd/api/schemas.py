"""What each call takes: the models that validate are the ones that /openapi.json shows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from coordroomsd.api.fields import (
    BodyText,
    EventNumber,
    EventSeq,
    Fields,
    Generation,
    Line,
    RoomName,
    Seq,
    SeqNumber,
    Text,
    TimeoutSeconds,
    Whole,
)
from coordroomsd.domain.text import one_line
from coordroomsd.domain.wake import parse_target, split_wake_on

RoomMessageKind = Literal["decision", "warning", "question", "answer", "status"]
ConversationMessageKind = Literal["note", "progress", "question", "result"]

PageLimit = Annotated[int, Field(ge=1, le=1000), Whole]


class Nothing(Fields):
    """No arguments."""


class WithGeneration(Fields):
    generation: Generation | None = None


class ListRooms(Fields):
    state: Literal["active", "all"] = "active"
    limit: PageLimit = 1000
    after: Text | None = None


class ListPage(Fields):
    limit: PageLimit = 1000
    after: Text | None = None


class NewRoom(Fields):
    name: RoomName


class NewMessage(Fields):
    kind: RoomMessageKind
    body: BodyText
    reply_to: Annotated[EventNumber | None, Field(validate_default=True)] = None

    @field_validator("reply_to")
    @classmethod
    def _only_an_answer_has_a_target(cls, value: int | None, info: ValidationInfo) -> int | None:
        kind = info.data.get("kind")
        if kind == "answer" and value is None:
            raise ValueError("is missing: an answer names the question that it answers")
        if kind not in (None, "answer") and value is not None:
            raise ValueError(f"is for answers; a {kind} has none")
        return value


class IfClaim(Fields):
    key: Line
    fence: EventNumber


class NewMessages(Fields):
    messages: Annotated[list[NewMessage], Field(min_length=1, max_length=100)]
    after_seq: SeqNumber | None = None
    max_unseen: SeqNumber | None = None
    if_claim: IfClaim | None = None

    @field_validator("max_unseen")
    @classmethod
    def _unseen_after_what(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and info.data.get("after_seq", 0) is None:
            raise ValueError("needs after_seq: unseen after which number?")
        return value


class MessagesPage(Fields):
    """`kind` is one of the room's kinds: a conversation has others than a room."""

    after_seq: Seq = 0
    limit: PageLimit = 200
    kind: Literal[RoomMessageKind, ConversationMessageKind] | None = None
    generation: Generation | None = None


class EventsPage(Fields):
    after_seq: Seq | None = None
    limit: PageLimit = 200
    generation: Generation | None = None


def _wake_on(values: list[str]) -> list[str]:
    parts = split_wake_on(values)
    for part in parts:
        parse_target(part)
    return parts


class Wait(Fields):
    after_seq: Seq | None = None
    wake_on: Annotated[list[Text], Field(min_length=1, max_length=100)] = ["message"]
    timeout_s: TimeoutSeconds = 50.0
    limit: PageLimit = 100
    generation: Generation | None = None

    @field_validator("wake_on")
    @classmethod
    def _known(cls, values: list[str]) -> list[str]:
        return _wake_on(values)


Cursors = Annotated[dict[Text, SeqNumber | None], Field(min_length=1, max_length=1000)]


class WaitOnMany(Fields):
    cursors: Cursors
    wake_on: Annotated[list[Text], Field(min_length=1, max_length=1000)] = ["message"]
    timeout_s: Annotated[float, Field(ge=0, le=300, allow_inf_nan=False)] = 50.0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100

    @field_validator("wake_on")
    @classmethod
    def _known(cls, values: list[str], info: ValidationInfo) -> list[str]:
        """A target names its room as the cursors do: `answer:<room>/<id>`, `free:<room>/<key>`."""
        parts = split_wake_on(values)
        for part in parts:
            kind, colon, target = part.partition(":")
            room, slash, rest = target.partition("/")
            if colon and not slash:
                raise ValueError(f"{part!r} must name its room: {kind}:<room>/…")
            parse_target(f"{kind}:{rest}" if colon else part)
            if colon and room not in info.data.get("cursors", {room: None}):
                raise ValueError(f"{part!r}: its room is not among the cursors")
        return parts


class Unread(Fields):
    limit: PageLimit = 50
    max_bytes: Annotated[int, Field(ge=1, le=1_048_576), Whole] = 65_536


class Confirm(Fields):
    cursors: Annotated[dict[Text, SeqNumber], Field(max_length=1000)]


class NewStatus(Fields):
    status: Line | None
    expires_in_s: Annotated[int, Field(ge=1, le=3600)] = 300


class ReactionQuery(Fields):
    after_seq: Seq | None = None
    generation: Generation | None = None


class NewClaim(Fields):
    key: Line
    lease_s: Annotated[int, Field(ge=60, le=86_400)] = 3600
    proposed_by_seq: EventNumber | None = None
    fence: EventNumber | None = None


class ReleaseQuery(Fields):
    key: Line
    fence: EventSeq | None = None


class SearchQuery(Fields):
    q: Text
    room: Text | None = None
    limit: Annotated[int, Field(ge=1, le=100), Whole] = 20

    @field_validator("q")
    @classmethod
    def _something_to_look_for(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("must not be blank")
        if len(value) > 1000:
            raise ValueError("has more than 1000 characters")
        return value


class NewConversation(Fields):
    with_: Annotated[Text, Field(alias="with", min_length=1, max_length=200)]

    @field_validator("with_")
    @classmethod
    def _somebody(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("must not be blank")
        return value


class ConversationPage(Fields):
    after_sequence: Seq = 0
    limit: Annotated[int, Field(ge=1, le=100), Whole] = 50
    generation: Generation | None = None


class NewConversationMessage(Fields):
    kind: ConversationMessageKind
    body: BodyText
    reply_to: EventNumber | None = None


def enrolled_name(text: str) -> str:
    """A line without a slash: `<name>/x` acts below `<name>`."""
    name = one_line(text)
    if "/" in name:
        raise ValueError("must not contain a slash")
    return name


class NewEnrollment(Fields):
    """`project` is for the operator on the Unix socket, who belongs to no project but `default`."""

    name: Annotated[str, AfterValidator(enrolled_name)]
    kind: Literal["agent", "human"]
    role: Literal["agent", "human", "operator"]
    expires_in_s: Annotated[int, Field(ge=1, le=604_800)] = 3600
    project: Line | None = None

    @field_validator("role")
    @classmethod
    def _role_of_a_kind(cls, value: str, info: ValidationInfo) -> str:
        kind = info.data.get("kind")
        if kind is not None and value != "operator" and value != kind:
            raise ValueError(f"is not for a participant of kind {kind}")
        return value


class Enroll(Fields):
    code: Annotated[Text, Field(min_length=1, max_length=200)]


class RetentionPolicy(Fields):
    """What a room keeps; what is left out is not limited by the room's own policy."""

    max_age_s: Annotated[int, Field(ge=1, le=3_153_600_000)] | None = None
    max_events: Annotated[int, Field(ge=1, le=1_000_000_000_000)] | None = None
