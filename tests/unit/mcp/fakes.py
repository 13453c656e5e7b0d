"""An API that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from coordroomsd.api.callers import Caller
from coordroomsd.domain.errors import Refusal
from coordroomsd.journal.submissions import Answer
from coordroomsd.mcp.agents import Agent

Json = dict[str, Any]

PEER = Caller("default", "agent", "agent", None, ("uid", 1000))
GENERATION = "g1"


@dataclass(frozen=True)
class Asked:
    """One call that was made, without the caller."""

    method: str
    path: str
    conversation: str | None
    query: Mapping[str, str | list[str]] = field(default_factory=dict)
    body: Any = None
    key: str | None = None


Reply = Json | Refusal | Exception | Callable[[Asked], Awaitable[Json]]


class FakeApi:
    """`answers` by method and path; a list is used up from its beginning."""

    def __init__(self, answers: dict[str, Reply | list[Reply]] | None = None) -> None:
        self.answers = answers or {}
        self.asked: list[Asked] = []
        self.callers: list[Caller] = []

    async def call(
        self,
        caller: Caller,
        method: str,
        path: str,
        *,
        conversation: str | None,
        query: Mapping[str, str | list[str]] | None = None,
        body: Any = None,
        key: str | None = None,
    ) -> Answer:
        asked = Asked(method, path, conversation, query or {}, body, key)
        self.asked.append(asked)
        self.callers.append(caller)
        reply = self.answers[f"{method} {path}"]
        if isinstance(reply, list):
            reply = reply.pop(0)
        match reply:
            case Refusal():
                return Answer(reply.status, orjson.dumps(reply.problem()))
            case Exception():
                raise reply
            case dict():
                return Answer(200, orjson.dumps(reply))
            case _:
                return Answer(200, orjson.dumps(await reply(asked)))


class Parked:
    """A reply that is there when a test says so; `gone` when its caller has left instead."""

    def __init__(self, reply: Json) -> None:
        self._reply = reply
        self.entered = asyncio.Event()
        self.released = asyncio.Event()
        self.gone = asyncio.Event()

    async def __call__(self, _: Asked) -> Json:
        self.entered.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.gone.set()
            raise
        return self._reply


def agent(api: FakeApi, conversation: str | None = "ann-1") -> Agent:
    return Agent(api, PEER, conversation)


def author(name: str, kind: str = "agent") -> Json:
    return {
        "membership_id": f"member_{name}",
        "conversation_id": f"{name}-1",
        "name": f"{name}-1",
        "kind": kind,
    }


def room(slug: str | None = "general", room_id: str = "room_1", latest_seq: int = 9) -> Json:
    return {
        "id": room_id,
        "name": slug and slug.title(),
        "slug": slug,
        "kind": "room" if slug else "peer",
        "project": "default",
        "created_at": "2026-11-30T12:00:00.000Z",
        "latest_seq": latest_seq,
        "first_seq": 1,
        "generation": GENERATION,
    }


def membership(state: str = "active", cursor: int = 1) -> Json:
    return {
        "id": "member_ann",
        "room_id": "room_1",
        "conversation_id": "ann-1",
        "state": state,
        "cursor": cursor,
        "created_at": "2026-11-30T12:00:00.000Z",
    }


def message(seq: int, by: str = "bob", body: str = "hello", **members: Any) -> Json:
    return {
        "id": seq,
        "seq": seq,
        "kind": "decision",
        "body": body,
        "reply_to": None,
        "at": "2026-11-30T12:00:01.000Z",
        "author": author(by),
        "reply_target": None,
        "reactions": {"counts": {}},
        **members,
    }


def page(*messages: Json, **members: Any) -> Json:
    last = messages[-1]["seq"] if messages else 0
    return {
        "messages": list(messages),
        "next_after_seq": last,
        "latest_seq": last,
        "has_more": False,
        "retention_gap": None,
        "generation": GENERATION,
        **members,
    }


def shown_room(*members: tuple[str, str], **of_room: Any) -> Json:
    """A room as `GET /rooms/{room}` shows it, with members as (name, state)."""
    rows = [author(name) | {"state": state} for name, state in members]
    return {"room": room(**of_room), "members": rows, "claims": []}


def news(room: str | None = "general", reason: str = "event", seq: int = 9, **more: Any) -> Json:
    """What a wait in one room answers."""
    return {
        **({} if room is None else {"room": room, "reason": reason}),
        "woken_by": [seq] if reason == "event" else [],
        "events": [],
        "next_after_seq": seq,
        "latest_seq": seq,
        "has_more": False,
        "retention_gap": None,
        "generation": GENERATION,
        **more,
    }
