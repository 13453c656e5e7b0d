"""What the daemon answers about statuses, reactions, receipts and claims."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from .events import Message, ReactionCount, counts, message
from .models import Author, Claim, Json, Status, moment, optional_moment, optional_status
from .records import Record


class StatusChange(Record):
    """The status as it now is, and whether that is news to the room."""

    status: Status | None
    changed: bool
    latest_seq: int

    @classmethod
    def from_json(cls, data: Json) -> StatusChange:
        return cls(
            status=optional_status(data["status"]),
            changed=data["changed"],
            latest_seq=data["latest_seq"],
        )


class ReactionChange(Record):
    """The reactions that a message now has, and whether the call changed them.

    `unseen_before_send` counts messages by others after `after_seq`; None when none was sent.
    """

    changed: bool
    counts: Mapping[str, ReactionCount]
    latest_seq: int
    unseen_before_send: int | None

    @classmethod
    def from_json(cls, data: Json) -> ReactionChange:
        return cls(
            changed=data["changed"],
            counts=counts(data["counts"]),
            latest_seq=data["latest_seq"],
            unseen_before_send=data.get("unseen_before_send"),
        )


class Reaction(Record):
    """Who reacted how, and when."""

    reaction: str
    author: Author
    at: datetime

    @classmethod
    def from_json(cls, data: Json) -> Reaction:
        return cls(
            reaction=data["reaction"],
            author=Author.from_json(data["author"]),
            at=moment(data["at"]),
        )


class Receipt(Record):
    """How far a message got with one participant.

    `stage` is `stored`, `retrieved`, `acknowledged` or `replied`.
    """

    participant: Author
    stage: str
    acknowledged_at: datetime | None
    reply_id: int | None

    @classmethod
    def from_json(cls, data: Json) -> Receipt:
        return cls(
            participant=Author.from_json(data["participant"]),
            stage=data["stage"],
            acknowledged_at=optional_moment(data["acknowledged_at"]),
            reply_id=data["reply_id"],
        )


class Claimed(Record):
    """A claim that the acting participant holds; `renewed` when it held it before."""

    claim: Claim
    renewed: bool
    latest_seq: int

    @classmethod
    def from_json(cls, data: Json) -> Claimed:
        return cls(
            claim=Claim.from_json(data["claim"]),
            renewed=data["renewed"],
            latest_seq=data["latest_seq"],
        )


class Released(Record):
    """`released` is false when nobody held the claim."""

    released: bool
    latest_seq: int

    @classmethod
    def from_json(cls, data: Json) -> Released:
        return cls(released=data["released"], latest_seq=data["latest_seq"])


class SearchResult(Record):
    """A message that has all the words; matches in `snippet` stand between `⟦` and `⟧`."""

    room: str
    message: Message
    snippet: str

    @classmethod
    def from_json(cls, data: Json) -> SearchResult:
        return cls(room=data["room"], message=message(data["message"]), snippet=data["snippet"])
