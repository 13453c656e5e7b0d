"""What the daemon answers about rooms and messages: one class for each call's document."""

from __future__ import annotations

from .events import Event, Message, RetentionGap, event, message, optional_gap
from .models import Claim, Json, Member, Membership, Participant, RoomInfo
from .records import Record


class Joined(Record):
    """A room that was made or joined. Following it begins after `next_after_seq`."""

    room: RoomInfo
    membership: Membership
    next_after_seq: int

    @classmethod
    def from_json(cls, data: Json) -> Joined:
        return cls(
            room=RoomInfo.from_json(data["room"]),
            membership=Membership.from_json(data["membership"]),
            next_after_seq=data["next_after_seq"],
        )


class Left(Record):
    """A room that was left; the membership stays, inactive."""

    room: RoomInfo
    membership: Membership

    @classmethod
    def from_json(cls, data: Json) -> Left:
        return cls(
            room=RoomInfo.from_json(data["room"]),
            membership=Membership.from_json(data["membership"]),
        )


class Me(Record):
    """The acting participant, where it is active, and its conversations."""

    participant: Participant
    active_room: RoomInfo | None
    membership: Membership | None
    conversations: tuple[RoomInfo, ...]

    @classmethod
    def from_json(cls, data: Json) -> Me:
        room, membership = data["active_room"], data["membership"]
        return cls(
            participant=Participant.from_json(data["participant"]),
            active_room=None if room is None else RoomInfo.from_json(room),
            membership=None if membership is None else Membership.from_json(membership),
            conversations=tuple(map(RoomInfo.from_json, data["conversations"])),
        )


class Overview(Record):
    """A room, who is or was in it, and what is claimed there now."""

    room: RoomInfo
    members: tuple[Member, ...]
    claims: tuple[Claim, ...]

    @classmethod
    def from_json(cls, data: Json) -> Overview:
        return cls(
            room=RoomInfo.from_json(data["room"]),
            members=tuple(map(Member.from_json, data["members"])),
            claims=tuple(map(Claim.from_json, data["claims"])),
        )


class Posted(Record):
    """What was stored.

    `unseen_before_send` is how many messages by others lie after `after_seq` and before the first
    one stored; None when no `after_seq` was sent.
    """

    messages: tuple[Message, ...]
    latest_seq: int
    unseen_before_send: int | None

    @property
    def message(self) -> Message:
        """The first message stored, which is the only one of `post`."""
        return self.messages[0]

    @classmethod
    def from_json(cls, data: Json) -> Posted:
        return cls(
            messages=tuple(map(message, data["messages"])),
            latest_seq=data["latest_seq"],
            unseen_before_send=data.get("unseen_before_send"),
        )


class Asked(Record):
    """A question that was posted, and the first answer to it; None when none came in time."""

    question: Message
    answer: Message | None


class History(Record):
    """A page of messages, oldest first; the next one begins after `next_after_seq`."""

    messages: tuple[Message, ...]
    next_after_seq: int
    latest_seq: int
    has_more: bool
    retention_gap: RetentionGap | None
    generation: str

    @classmethod
    def from_json(cls, data: Json) -> History:
        return cls(
            messages=tuple(map(message, data["messages"])),
            next_after_seq=data["next_after_seq"],
            latest_seq=data["latest_seq"],
            has_more=data["has_more"],
            retention_gap=optional_gap(data["retention_gap"]),
            generation=data["generation"],
        )


class Log(Record):
    """A page of the log: events of all types, one's own included, oldest first."""

    events: tuple[Event, ...]
    next_after_seq: int
    latest_seq: int
    has_more: bool
    retention_gap: RetentionGap | None
    generation: str

    @classmethod
    def from_json(cls, data: Json) -> Log:
        return cls(
            events=tuple(map(event, data["events"])),
            next_after_seq=data["next_after_seq"],
            latest_seq=data["latest_seq"],
            has_more=data["has_more"],
            retention_gap=optional_gap(data["retention_gap"]),
            generation=data["generation"],
        )


class ConversationPage(Record):
    """A page of a conversation, oldest first; the next one begins after `next_sequence`."""

    messages: tuple[Message, ...]
    has_more: bool
    next_sequence: int
    retention_gap: RetentionGap | None

    @classmethod
    def from_json(cls, data: Json) -> ConversationPage:
        return cls(
            messages=tuple(map(message, data["messages"])),
            has_more=data["has_more"],
            next_sequence=data["next_sequence"],
            retention_gap=optional_gap(data["retention_gap"]),
        )


class Sent(Record):
    """A message of a conversation as it was stored."""

    message: Message
    latest_seq: int

    @classmethod
    def from_json(cls, data: Json) -> Sent:
        return cls(message=message(data["message"]), latest_seq=data["latest_seq"])
