"""The lines of a room's log. CONTRIBUTING.md says what else a new type needs."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from coordroomsd.domain import ids
from coordroomsd.domain.participants import Author
from coordroomsd.domain.text import instant

EventType = Literal["message", "member", "status", "reaction", "claim"]

ROOM_KINDS = ("decision", "warning", "question", "answer", "status")
CONVERSATION_KINDS = ("note", "progress", "question", "result")
PROTOCOL_REACTIONS = frozenset({"ack", "agree", "decline"})
REACTIONS = ("ack", "agree", "decline", "like", "love", "fire", "ok")


@dataclass(frozen=True, slots=True)
class Message:
    kind: str
    body: str
    reply_to: int | None


@dataclass(frozen=True, slots=True)
class StatusLine:
    """The text that began or ended, and its span."""

    status: str
    since: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Reaction:
    message_id: int
    reaction: str


@dataclass(frozen=True, slots=True)
class Lease:
    """What a claim's event tells; `fence` is the number of the event that granted the lease."""

    key: str
    fence: int
    expires_at: datetime
    proposed_by_seq: int | None


Payload = Message | StatusLine | Reaction | Lease | None


class Event(NamedTuple):
    """One line of a room's log. `payload` is None for type `member`."""

    seq: int
    type: EventType
    reason: str | None
    at: datetime
    # Whose doing it is or, with `by_daemon`, whom it concerns.
    who: Author
    by_daemon: bool
    payload: Payload

    def by(self, membership_id: int) -> bool:
        """Whether it is that member's own; what the daemon does by itself is nobody's."""
        return not self.by_daemon and self.who.membership_id == membership_id


@functools.lru_cache(maxsize=16_384)
def author_wire(author: Author) -> dict[str, Any]:
    """How a person or agent is named, wherever it is. Shared: not to be changed."""
    return {
        "membership_id": ids.membership_id(author.membership_id),
        "conversation_id": author.conversation_id,
        "name": author.name,
        "kind": author.kind,
    }


def payload_wire(payload: Payload) -> dict[str, Any]:
    """An event's own fields, on the wire and in the column `detail`."""
    match payload:
        case Message(kind, body, reply_to):
            return {"kind": kind, "body": body, "reply_to": reply_to}
        case StatusLine(status, since, expires_at):
            return {
                "status": status,
                "since": instant(since),
                "expires_at": instant(expires_at),
            }
        case Reaction(message_id, reaction):
            return {"message_id": message_id, "reaction": reaction}
        case Lease(key, fence, expires_at, proposed_by_seq):
            return {
                "key": key,
                "fence": fence,
                "expires_at": instant(expires_at),
                "proposed_by_seq": proposed_by_seq,
            }
        case None:
            return {}


def event_wire(event: Event) -> dict[str, Any]:
    """An event as callers see it."""
    who = author_wire(event.who)
    head: dict[str, Any] = {
        "seq": event.seq,
        "type": event.type,
        "reason": event.reason,
        "at": instant(event.at),
        "author": None if event.by_daemon else who,
    }
    if event.by_daemon:
        head["participant"] = who
    return head | payload_wire(event.payload)


def payload_from(event_type: EventType, detail: dict[str, Any]) -> Payload:
    """The payload that `payload_wire` wrote."""
    match event_type:
        case "status":
            return StatusLine(
                detail["status"], _moment(detail["since"]), _moment(detail["expires_at"])
            )
        case "reaction":
            return Reaction(detail["message_id"], detail["reaction"])
        case "claim":
            return Lease(
                detail["key"],
                detail["fence"],
                _moment(detail["expires_at"]),
                detail["proposed_by_seq"],
            )
        case "message":
            return Message(detail["kind"], detail["body"], detail["reply_to"])
        case "member":
            return None


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
