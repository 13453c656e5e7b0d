"""What each call gives, for /openapi.json; a test holds it together with views.py."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class AnswerModel(BaseModel):
    """Closed, so that the test that compares answers with it finds a field too many."""

    model_config = ConfigDict(extra="forbid")


Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class Author(AnswerModel):
    membership_id: str
    conversation_id: str
    name: str
    kind: Literal["agent", "human"]


class Room(AnswerModel):
    id: str
    name: str | None
    slug: str | None
    kind: Literal["room", "peer", "admin"]
    project: str
    created_at: Time
    latest_seq: int
    first_seq: int
    generation: str
    members: list[Author] | None = None


class ListedRoom(Room):
    active_members: int


class Membership(AnswerModel):
    id: str
    room_id: str
    conversation_id: str
    state: Literal["active", "inactive"]
    cursor: int
    created_at: Time


class Status(AnswerModel):
    status: str
    since: Time
    expires_at: Time


class Member(Author):
    state: Literal["active", "inactive"]
    cursor: int
    created_at: Time
    status: Status | None
    last_seen_seq: int
    last_seen_at: Time
    waiting: bool
    wake: Literal["push", "hook", "none"]


class Claim(AnswerModel):
    key: str
    holder: Author
    since: Time
    expires_at: Time
    fence: int
    proposed_by_seq: int | None


class Participant(AnswerModel):
    conversation_id: str
    name: str
    kind: Literal["agent", "human"]
    role: Literal["agent", "human", "operator"]


class ListedParticipant(Participant):
    active_room: str | None


class Me(AnswerModel):
    participant: Participant
    active_room: Room | None
    membership: Membership | None
    conversations: list[Room]


class ParticipantList(AnswerModel):
    participants: list[ListedParticipant]
    has_more: bool


class Left(AnswerModel):
    room: Room
    membership: Membership


class Entered(Left):
    next_after_seq: int


class RoomList(AnswerModel):
    rooms: list[ListedRoom]
    has_more: bool


class MemberList(AnswerModel):
    members: list[Member]


class ClaimList(AnswerModel):
    claims: list[Claim]


class RoomPage(AnswerModel):
    room: Room
    members: list[Member]
    claims: list[Claim]


class ReplyTarget(AnswerModel):
    """`removed` alone when retention took the message."""

    id: int
    kind: str | None = None
    body: str | None = None
    author: Author | None = None
    removed: bool | None = None


class Count(AnswerModel):
    total: int
    human: int


class Reactions(AnswerModel):
    counts: dict[str, Count]


class Message(AnswerModel):
    id: int
    seq: int
    kind: str
    body: str
    reply_to: int | None
    at: Time
    author: Author
    reply_target: ReplyTarget | None
    reactions: Reactions


class Gap(AnswerModel):
    from_seq: int
    to_seq: int


class Event(AnswerModel):
    """One line of the log; which further fields there are depends on `type`."""

    seq: int
    type: Literal["message", "member", "status", "reaction", "claim"]
    reason: str | None
    at: Time
    author: Author | None
    participant: Author | None = None
    kind: str | None = None
    body: str | None = None
    reply_to: int | None = None
    status: str | None = None
    since: Time | None = None
    expires_at: Time | None = None
    message_id: int | None = None
    reaction: str | None = None
    key: str | None = None
    fence: int | None = None
    proposed_by_seq: int | None = None


class Posted(AnswerModel):
    messages: list[Message]
    latest_seq: int
    unseen_before_send: int | None = None


class Page(AnswerModel):
    next_after_seq: int
    latest_seq: int
    has_more: bool
    retention_gap: Gap | None
    generation: str


class MessagePage(Page):
    messages: list[Message]


class EventPage(Page):
    events: list[Event]


class OneMessage(AnswerModel):
    message: Message


class Receipt(AnswerModel):
    participant: Author
    stage: Literal["stored", "retrieved", "acknowledged", "replied"]
    acknowledged_at: Time | None
    reply_id: int | None


class ReceiptList(AnswerModel):
    receipts: list[Receipt]


class HeldReaction(AnswerModel):
    reaction: str
    author: Author
    at: Time


class ReactionList(AnswerModel):
    reactions: list[HeldReaction]


class Reacted(AnswerModel):
    changed: bool
    counts: dict[str, Count]
    latest_seq: int
    unseen_before_send: int | None = None


class RoomNews(EventPage):
    woken_by: list[int]


class WaitAnswer(RoomNews):
    room: str
    reason: Literal["event", "timeout", "closing"]


class WaitOnManyAnswer(AnswerModel):
    reason: Literal["event", "timeout", "closing"]
    rooms: dict[str, RoomNews]


class UnreadInRoom(AnswerModel):
    room: str
    kind: Literal["room", "peer", "admin"]
    messages: list[Message]
    through_seq: int
    has_more: bool
    retention_gap: Gap | None
    generation: str


class UnreadList(AnswerModel):
    unread: list[UnreadInRoom]


class Cursors(AnswerModel):
    cursors: dict[str, int]


class StatusSet(AnswerModel):
    status: Status | None
    changed: bool
    latest_seq: int


class Claimed(AnswerModel):
    claim: Claim
    renewed: bool
    latest_seq: int


class Released(AnswerModel):
    released: bool
    latest_seq: int


class OneConversation(AnswerModel):
    conversation: Room


class ConversationList(AnswerModel):
    conversations: list[Room]
    has_more: bool


class ConversationPage(AnswerModel):
    messages: list[Message]
    has_more: bool
    next_sequence: int
    retention_gap: Gap | None


class Sent(AnswerModel):
    message: Message
    latest_seq: int


class Offered(AnswerModel):
    code: str
    expires_at: Time


class EnrolledParticipant(AnswerModel):
    token: str
    participant: Participant


class Revoked(AnswerModel):
    revoked: int


class Policy(AnswerModel):
    max_age_s: int | None
    max_events: int | None


class PolicySet(AnswerModel):
    retention: Policy
    first_seq: int


class Found(AnswerModel):
    room: str
    message: Message
    snippet: str


class Results(AnswerModel):
    results: list[Found]


class FieldFault(AnswerModel):
    field: str
    problem: str


class Problem(BaseModel):
    """RFC 9457. `code` tells refusals apart; which further members there are depends on it."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    code: str
    detail: str
    recovery: str
    errors: list[FieldFault] | None = None
    room: str | None = None
    did_you_mean: str | None = None
    holder: Author | None = None
    expires_at: Time | None = None
    fence: int | None = None
    reply_to: int | None = None
    unseen: int | None = None
    latest_seq: int | None = None
    generation: str | None = None
    retry_after_s: int | None = None
    error_id: str | None = None
