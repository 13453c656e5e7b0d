"""Conversations of two: open one, send, read, acknowledge. All else works as in a room."""

from __future__ import annotations

from ..answers import ConversationPage, Sent
from ..calls import Call, Program, fresh_key, idempotency
from ..escapes import path_segment
from ..models import RoomInfo
from ..signals import ReactionChange
from .messages import draft
from .rooms import whole_list


def conversations() -> Program[list[RoomInfo]]:
    """The acting participant's conversations; for an operator the project's peer ones too."""
    document = yield from whole_list("/conversations", "conversations", "id")
    return [RoomInfo.from_json(row) for row in document["conversations"]]


def open_conversation(with_: str, *, idempotency_key: str | None = None) -> Call[RoomInfo]:
    """The conversation with that participant, the same one every time."""
    return Call(
        method="POST",
        path="/conversations",
        parse=lambda data: RoomInfo.from_json(data["conversation"]),
        body={"with": with_},
        key=idempotency(idempotency_key),
    )


def send(
    room: str,
    body: str,
    kind: str = "note",
    *,
    reply_to: int | None = None,
    idempotency_key: str | None = None,
) -> Call[Sent]:
    """Say something in a conversation. `kind` is `note`, `progress`, `question` or `result`."""
    return Call(
        method="POST",
        path=_path(room, "/messages"),
        parse=Sent.from_json,
        body=draft(body, kind, reply_to=reply_to),
        key=idempotency(idempotency_key),
    )


def thread(room: str, after_sequence: int = 0, *, limit: int = 50) -> Call[ConversationPage]:
    """A page of a conversation after a number, oldest first; `limit` is at most 100."""
    return Call(
        method="GET",
        path=_path(room, "/messages"),
        parse=ConversationPage.from_json,
        query={"after_sequence": after_sequence, "limit": limit},
    )


def acknowledge(room: str, message_id: int) -> Call[ReactionChange]:
    """Tell the author that a message was received and taken on."""
    return Call(
        method="POST",
        path=_path(room, f"/messages/{message_id}/ack"),
        parse=ReactionChange.from_json,
        key=fresh_key(),
    )


def _path(conversation: str, rest: str) -> str:
    return f"/conversations/{path_segment(conversation)}{rest}"
