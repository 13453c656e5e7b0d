"""What comes from others: the answers of waits, and what lifecycle delivery hands over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .events import Event, Message, RetentionGap, event, message, optional_gap
from .models import Json
from .records import Record

Reason = Literal["event", "timeout", "closing"]


class News(Record):
    """What one room has for a wait: every event by others after its number, oldest first.

    `woken_by` are the numbers of the events that ended the wait, at most ten. Carry
    `next_after_seq` into the next wait.
    """

    woken_by: tuple[int, ...]
    events: tuple[Event, ...]
    next_after_seq: int
    latest_seq: int
    has_more: bool
    retention_gap: RetentionGap | None
    generation: str | None

    @classmethod
    def from_json(cls, data: Json) -> News:
        return cls(**_news(data))


class Wait(News):
    """The end of a wait on one room, and its news.

    `reason` is `event`, `timeout` (an answer too, with what came and did not wake) or `closing`
    (the daemon is stopping: wait again after a short pause).
    """

    room: str
    reason: Reason

    @classmethod
    def from_json(cls, data: Json) -> Wait:
        return cls(room=data["room"], reason=data["reason"], **_news(data))


class MultiWait(Record):
    """The end of a wait on several rooms: the news of those that have any, by the name given."""

    reason: Reason
    rooms: Mapping[str, News]

    @classmethod
    def from_json(cls, data: Json) -> MultiWait:
        rooms = {name: News.from_json(news) for name, news in data["rooms"].items()}
        return cls(reason=data["reason"], rooms=rooms)


class Unread(Record):
    """The messages of one room behind the acting participant's cursor, without its own.

    Nothing is marked as read by looking: `confirm({unread.room: unread.through_seq})` does that.
    """

    room: str
    kind: str
    messages: tuple[Message, ...]
    through_seq: int
    has_more: bool
    retention_gap: RetentionGap | None
    generation: str

    @classmethod
    def from_json(cls, data: Json) -> Unread:
        return cls(
            room=data["room"],
            kind=data["kind"],
            messages=tuple(map(message, data["messages"])),
            through_seq=data["through_seq"],
            has_more=data["has_more"],
            retention_gap=optional_gap(data["retention_gap"]),
            generation=data["generation"],
        )


def _news(data: Json) -> dict[str, Any]:
    return {
        "woken_by": tuple(data["woken_by"]),
        "events": tuple(map(event, data["events"])),
        "next_after_seq": data["next_after_seq"],
        "latest_seq": data["latest_seq"],
        "has_more": data["has_more"],
        "retention_gap": optional_gap(data["retention_gap"]),
        "generation": data.get("generation"),
    }
