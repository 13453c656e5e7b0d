"""The lines of a room's log, one class for each type of event.

match event:
    case Message(kind="question", body=body): …
    case MemberEvent(reason="left"): …
    case RetentionGap(): …
    case HistoryRestored(): …
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from .models import Author, Json, moment, optional_author, optional_moment
from .records import Record


class Event(Record):
    """What all events share; an event of a type this version does not know is of this class.

    `author` is None for what the daemon did by itself (a status or a claim ran out); then
    `participant` is whom it concerns.
    """

    seq: int
    type: str
    reason: str | None
    at: datetime
    author: Author | None
    participant: Author | None


class ReactionCount(Record):
    """How many hold a reaction, and how many of them are people."""

    total: int
    human: int


class ReplyTarget(Record):
    """The message that another one replies to. Only `id` is known of one that was removed."""

    id: int
    removed: bool
    kind: str | None
    body: str | None
    author: Author | None


class Message(Event):
    """Something that was said. Its `id` is its `seq`: what to quote, reply to, react to.

    `reply_target` is filled in history; `reactions` has the reactions held when the daemon
    answered.
    """

    kind: str
    body: str
    reply_to: int | None
    reply_target: ReplyTarget | None
    reactions: Mapping[str, ReactionCount]

    @property
    def id(self) -> int:
        return self.seq


class MemberEvent(Event):
    """Somebody joined or left; that is the `reason`."""


class StatusEvent(Event):
    """A status began (`set`) or ended (`cleared`, `expired`, `left`)."""

    status: str | None
    since: datetime | None
    expires_at: datetime | None


class ReactionEvent(Event):
    """A reaction to `message_id` was `added` or `removed`."""

    message_id: int
    reaction: str


class ClaimEvent(Event):
    """A claim was `claimed`, `renewed`, `released`, or ended by itself (`expired`, `left`)."""

    key: str
    fence: int
    expires_at: datetime | None
    proposed_by_seq: int | None


class RetentionGap(Record):
    """Events that were asked for and that the retention policy has removed, both ends included."""

    from_seq: int
    to_seq: int

    @classmethod
    def from_json(cls, data: Json) -> RetentionGap:
        return cls(from_seq=data["from_seq"], to_seq=data["to_seq"])


class HistoryRestored(Record):
    """The daemon's database was restored from an older copy; its `generation` is this one now.

    What the room had said since that copy was made is gone, and numbers seen before may stand for
    other events now. `latest_seq` is the room's last one.
    """

    generation: str
    latest_seq: int


def optional_gap(data: Json | None) -> RetentionGap | None:
    return None if data is None else RetentionGap.from_json(data)


def message(data: Json) -> Message:
    """A message, whether it comes as an event or from history."""
    return Message(
        **_common(data, "message"),
        kind=data["kind"],
        body=data["body"],
        reply_to=data.get("reply_to"),
        reply_target=_reply_target(data.get("reply_target")),
        reactions=counts((data.get("reactions") or {}).get("counts") or {}),
    )


def event(data: Json) -> Event:
    """The event that a JSON object stands for."""
    common = _common(data, data["type"])
    match data["type"]:
        case "message":
            return message(data)
        case "member":
            return MemberEvent(**common)
        case "status":
            return StatusEvent(
                **common,
                status=data.get("status"),
                since=optional_moment(data.get("since")),
                expires_at=optional_moment(data.get("expires_at")),
            )
        case "reaction":
            return ReactionEvent(**common, message_id=data["message_id"], reaction=data["reaction"])
        case "claim":
            return ClaimEvent(
                **common,
                key=data["key"],
                fence=data["fence"],
                expires_at=optional_moment(data.get("expires_at")),
                proposed_by_seq=data.get("proposed_by_seq"),
            )
        case _:
            return Event(**common)


def counts(data: Json) -> dict[str, ReactionCount]:
    """Reactions held, by name."""
    return {
        reaction: ReactionCount(total=count["total"], human=count["human"])
        for reaction, count in data.items()
    }


def _common(data: Json, type_: str) -> dict[str, Any]:
    return {
        "seq": data["seq"],
        "type": type_,
        "reason": data.get("reason"),
        "at": moment(data["at"]),
        "author": optional_author(data.get("author")),
        "participant": optional_author(data.get("participant")),
    }


def _reply_target(data: Json | None) -> ReplyTarget | None:
    if data is None:
        return None
    return ReplyTarget(
        id=data["id"],
        removed=data.get("removed", False),
        kind=data.get("kind"),
        body=data.get("body"),
        author=optional_author(data.get("author")),
    )
