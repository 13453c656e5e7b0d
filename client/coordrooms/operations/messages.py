"""Saying something, and reading what was said."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..answers import Asked, History, Log, Posted
from ..calls import Call, Program, do, idempotency
from ..events import Message, message
from ..models import Json
from ..signals import Receipt, SearchResult
from .rooms import room_path
from .waits import LONGEST_WAIT_S, closing_pause, wait


class Fenced(Protocol):
    """A claim or a held lease, to post under."""

    @property
    def key(self) -> str: ...

    @property
    def fence(self) -> int: ...


def post(
    room: str,
    body: str,
    kind: str = "decision",
    *,
    reply_to: int | None = None,
    after_seq: int | None = None,
    max_unseen: int | None = None,
    if_claim: Fenced | None = None,
    idempotency_key: str | None = None,
) -> Call[Posted]:
    """Say one thing. `kind` is `decision`, `warning`, `question`, `answer` or `status`.

    With `after_seq` the answer tells how much others said after that number; with `max_unseen`
    the message is stored only when that is no more (UnseenMessagesError). With `if_claim` it is
    stored only while that claim is held (NotClaimHolderError).
    """
    return post_many(
        room,
        [draft(body, kind, reply_to=reply_to)],
        after_seq=after_seq,
        max_unseen=max_unseen,
        if_claim=if_claim,
        idempotency_key=idempotency_key,
    )


def post_many(
    room: str,
    messages: Sequence[Mapping[str, Any]],
    *,
    after_seq: int | None = None,
    max_unseen: int | None = None,
    if_claim: Fenced | None = None,
    idempotency_key: str | None = None,
) -> Call[Posted]:
    """Say up to 100 things, each `{"kind", "body", "reply_to"?}`; all are stored or none."""
    body: dict[str, Any] = {"messages": [dict(message) for message in messages]}
    if after_seq is not None:
        body["after_seq"] = after_seq
    if max_unseen is not None:
        body["max_unseen"] = max_unseen
    if if_claim is not None:
        body["if_claim"] = {"key": if_claim.key, "fence": if_claim.fence}
    return Call(
        method="POST",
        path=room_path(room, "/messages"),
        parse=Posted.from_json,
        body=body,
        key=idempotency(idempotency_key),
    )


def draft(body: str, kind: str, *, reply_to: int | None) -> dict[str, Any]:
    """A message that is not stored yet, as `post_many` takes it."""
    return {"kind": kind, "body": body} | ({} if reply_to is None else {"reply_to": reply_to})


def answer(
    room: str, question: Message | int, body: str, *, idempotency_key: str | None = None
) -> Call[Posted]:
    """Answer a question, given as the message or as its id."""
    target = question if isinstance(question, int) else question.id
    return post(room, body, "answer", reply_to=target, idempotency_key=idempotency_key)


def ask(room: str, body: str, *, timeout_s: float = 300.0) -> Program[Asked]:
    """Ask, and wait until somebody answers or the time is over.

    Whoever follows the room as well sees the answer there too.
    """
    posted = yield from do(post(room, body, "question"))
    question = posted.message
    deadline = time.monotonic() + timeout_s
    after_seq = question.seq
    while True:
        left_s = max(0.0, deadline - time.monotonic())
        woken = yield from do(
            wait(
                room,
                after_seq,
                wake_on=f"answer:{question.id}",
                timeout_s=min(left_s, LONGEST_WAIT_S),
            )
        )
        for event in woken.events:
            if isinstance(event, Message) and event.reply_to == question.id:
                return Asked(question=question, answer=event)
        if left_s == 0 and not woken.has_more:
            return Asked(question=question, answer=None)
        after_seq = woken.next_after_seq
        if woken.reason == "closing":
            yield closing_pause()


def history(
    room: str,
    after_seq: int = 0,
    *,
    limit: int = 200,
    kind: str | None = None,
    generation: str | None = None,
) -> Call[History]:
    """A page of the messages after a number, oldest first, one's own included."""
    query = {"after_seq": after_seq, "limit": limit, "kind": kind, "generation": generation}
    return Call(
        method="GET", path=room_path(room, "/messages"), parse=History.from_json, query=query
    )


def events(
    room: str, after_seq: int = 0, *, limit: int = 200, generation: str | None = None
) -> Call[Log]:
    """A page of the log after a number: events of all types, one's own included."""
    query = {"after_seq": after_seq, "limit": limit, "generation": generation}
    return Call(method="GET", path=room_path(room, "/events"), parse=Log.from_json, query=query)


def one_message(room: str, message_id: int) -> Call[Message]:
    """One message, with what it replies to and the reactions to it."""
    return Call(
        method="GET",
        path=room_path(room, f"/messages/{message_id}"),
        parse=lambda data: message(data["message"]),
    )


def receipts(room: str, message_id: int) -> Call[list[Receipt]]:
    """How far a message got with everyone else who was active when it was stored."""
    return Call(
        method="GET",
        path=room_path(room, f"/messages/{message_id}/receipts"),
        parse=lambda data: [Receipt.from_json(row) for row in data["receipts"]],
    )


def search(
    q: str, *, room: str | None = None, limit: int | None = None
) -> Call[list[SearchResult]]:
    """Messages that have all the words, among what the acting participant may read."""
    return Call(
        method="GET",
        path="/search",
        parse=_search_results,
        query={"q": q, "room": room, "limit": limit},
    )


def _search_results(data: Json) -> list[SearchResult]:
    return [SearchResult.from_json(row) for row in data["results"]]
