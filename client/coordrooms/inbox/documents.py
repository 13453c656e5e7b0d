"""Answers with the messages in them as they came: an inbox keeps those."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ..answers import History
from ..calls import Call
from ..events import Message, message
from ..models import Json
from ..news import Unread
from ..operations.messages import history, one_message
from ..operations.waits import unread

T = TypeVar("T")

# The most that the daemon gives at once.
PAGE = 1000


class Arrival(NamedTuple):
    """What is unread in one conversation, and its messages as they came."""

    unread: Unread
    documents: list[Json]


class Page(NamedTuple):
    """A page of messages of one kind, and the same as they came."""

    history: History
    documents: list[Json]


class Found(NamedTuple):
    """One message, and as it came."""

    message: Message
    document: Json


def arrivals() -> Call[list[Arrival]]:
    """What is unread in conversations; the active room is the business of the agent's hooks."""
    return _read_as(
        unread(),
        lambda data: [
            Arrival(Unread.from_json(row), row["messages"])
            for row in data["unread"]
            if row["kind"] != "room"
        ],
    )


def page_of_kind(conversation: str, after_seq: int, kind: str) -> Call[Page]:
    """As all calls with a kind, it does not count as having shown what lies on the page."""
    return _read_as(
        history(conversation, after_seq, limit=PAGE, kind=kind),
        lambda data: Page(History.from_json(data), data["messages"]),
    )


def found(conversation: str, seq: int) -> Call[Found]:
    return _read_as(
        one_message(conversation, seq),
        lambda data: Found(message(data["message"]), data["message"]),
    )


def _read_as(call: Call[Any], parse: Callable[[Json], T]) -> Call[T]:
    return call._replace(parse=parse)
