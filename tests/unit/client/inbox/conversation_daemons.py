"""A daemon with the conversations of one participant, in memory, and programs that are killed."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple, TypeVar

from coordrooms.calls import Call, Program, Step
from coordrooms.refusals import RefusedError, refusal
from coordrooms.wire import request_bytes

T = TypeVar("T")
Json = dict[str, Any]

BOB = {"membership_id": "m_2", "conversation_id": "bob-1", "name": "bob-1", "kind": "agent"}
ANN = {"membership_id": "m_1", "conversation_id": "ann-1", "name": "ann-1", "kind": "agent"}
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class KilledError(Exception):
    """The process of a program is no more."""


class Kill(NamedTuple):
    """When: at its n-th call to the daemon, before it was received or before its answer was."""

    call: int
    when: Literal["before", "after"]


class Conversation:
    def __init__(self) -> None:
        self.log: list[Json] = []
        self.first_seq = 1
        self.cursor = 0
        self.last_seen = 0
        self.acknowledged: set[int] = set()
        self.kept: dict[str, tuple[Json, Json]] = {}

    @property
    def head(self) -> int:
        return len(self.log)

    def messages(self, after: int = 0) -> list[Json]:
        kept = self.log[max(after, self.first_seq - 1) :]
        return [self._view(event) for event in kept if event["type"] == "message"]

    def _view(self, event: Json) -> Json:
        counts = {"ack": {"total": 1, "human": 0}} if event["seq"] in self.acknowledged else {}
        return {**event, "reply_target": None, "reactions": {"counts": counts}}


class ConversationDaemon:
    """Bob is the one who calls. `requests` has every call as method and path."""

    def __init__(self) -> None:
        self.rooms: dict[str, Conversation] = {}
        self.generation = "g1"
        self.requests: list[str] = []
        self.page = 2
        self._milliseconds = 0

    def say(self, room: str, body: str, kind: str = "note") -> Json:
        """Ann says something, in a conversation that is opened if need be."""
        conversation = self.rooms.setdefault(room, Conversation())
        return self._append(conversation, ANN, kind, body, None)

    def say_as_bob(self, room: str, body: str, kind: str, reply_to: int) -> Json:
        """Another program of Bob's answers."""
        return self._append(self.rooms[room], BOB, kind, body, reply_to)

    def remove_before(self, room: str, first_seq: int) -> None:
        """Retention; the head stays."""
        conversation = self.rooms[room]
        conversation.first_seq = max(conversation.first_seq, min(first_seq, conversation.head))

    def snapshot(self) -> dict[str, Conversation]:
        return copy.deepcopy(self.rooms)

    def restore(self, snapshot: dict[str, Conversation]) -> None:
        """Come back with an older database, whose generation is a new one."""
        self.rooms = copy.deepcopy(snapshot)
        self.generation = f"g{int(self.generation[1:]) + 1}"

    def forget_keys(self) -> None:
        """A week has passed."""
        for conversation in self.rooms.values():
            conversation.kept.clear()

    def answer(self, call: Step) -> Any:
        """What a call is answered with. Raises RefusedError."""
        assert isinstance(call, Call)
        self.requests.append(f"{call.method} {call.path}")
        # It has to be sendable, too.
        request_bytes(call.method, call.path, [], None)
        for pattern, handler in self._routes():
            if match := re.fullmatch(pattern, f"{call.method} {call.path}"):
                return call.parse(handler(call, *match.groups()))
        raise AssertionError(f"no such call: {call.method} {call.path}")

    def me(self) -> Json:
        person = {**BOB, "role": "agent"}
        mine = self._conversations()["conversations"]
        return {"participant": person, "active_room": None, "membership": None} | {
            "conversations": mine
        }

    def _routes(self) -> list[tuple[str, Callable[..., Json]]]:
        message = r"/messages/(\d+)"
        return [
            (r"GET /conversations", lambda call: self._conversations()),
            (r"GET /unread", lambda call: {"unread": list(map(self._unread, self.rooms))}),
            (r"POST /cursor", self._confirm),
            (rf"GET /rooms/(\w+){message}", self._one),
            (rf"GET /rooms/(\w+){message}/receipts", self._receipts),
            (r"GET /rooms/(\w+)/messages", self._history),
            (r"POST /conversations/(\w+)/messages", self._send),
            (rf"POST /conversations/(\w+){message}/ack", self._acknowledge),
        ]

    def _conversations(self) -> Json:
        rooms = [self._room(name, [ANN, BOB]) for name in self.rooms]
        # An operator sees the threads of others in this list.
        rooms.append(self._room("others", [ANN, {**BOB, "conversation_id": "cat-1"}]))
        return {"conversations": rooms, "has_more": False}

    def _room(self, name: str, members: list[Json]) -> Json:
        conversation = self.rooms.get(name, Conversation())
        return {
            "id": name,
            "name": None,
            "slug": None,
            "kind": "peer",
            "project": "default",
            "created_at": _text(BEGINNING),
            "latest_seq": conversation.head,
            "first_seq": conversation.first_seq,
            "generation": self.generation,
            "members": members,
        }

    def _unread(self, name: str) -> Json:
        conversation = self.rooms[name]
        unread = [m for m in conversation.messages(conversation.cursor) if m["author"] == ANN]
        given = unread[: self.page]
        has_more = len(given) < len(unread)
        gap = None
        if conversation.cursor + 1 < conversation.first_seq:
            gap = {"from_seq": conversation.cursor + 1, "to_seq": conversation.first_seq - 1}
        return {
            "room": name,
            "kind": "peer",
            "messages": given,
            "through_seq": given[-1]["seq"] if has_more else conversation.head,
            "has_more": has_more,
            "retention_gap": gap,
            "generation": self.generation,
        }

    def _confirm(self, call: Call[Any]) -> Json:
        assert call.body is not None
        if (call.query or {}).get("generation", self.generation) != self.generation:
            raise _refused("generation_changed", 409)
        for name, seq in call.body["cursors"].items():
            conversation = self.rooms[name]
            assert isinstance(seq, int)
            if seq > conversation.head:
                raise _refused("cursor_ahead", 409)
            conversation.cursor = max(conversation.cursor, seq)
            conversation.last_seen = max(conversation.last_seen, seq)
        return {"cursors": {name: self.rooms[name].cursor for name in call.body["cursors"]}}

    def _one(self, call: Call[Any], name: str, number: str) -> Json:
        conversation = self._conversation(name)
        for message in conversation.messages():
            if message["seq"] == int(number):
                return {"message": message}
        raise _refused("message_not_found", 404)

    def _receipts(self, call: Call[Any], name: str, number: str) -> Json:
        seq, conversation = int(number), self._conversation(name)
        replies = [
            message["seq"]
            for message in conversation.messages()
            if message["author"] == BOB and message["reply_to"] == seq
        ]
        return {
            "receipts": [
                {
                    "participant": BOB,
                    "stage": "replied" if replies else "stored",
                    "acknowledged_at": None,
                    "reply_id": replies[0] if replies else None,
                }
            ]
        }

    def _history(self, call: Call[Any], name: str) -> Json:
        query: Mapping[str, Any] = call.query or {}
        assert query["kind"], "without a kind it would count as shown"
        conversation = self._conversation(name)
        after = int(query["after_seq"])
        found = [m for m in conversation.messages(after) if m["kind"] == query["kind"]]
        given = found[: self.page]
        has_more = len(given) < len(found)
        return {
            "messages": given,
            "next_after_seq": given[-1]["seq"] if has_more else conversation.head,
            "latest_seq": conversation.head,
            "has_more": has_more,
            "retention_gap": None,
            "generation": self.generation,
        }

    def _send(self, call: Call[Any], name: str) -> Json:
        conversation = self._conversation(name)
        body = dict(call.body or {})
        assert call.key is not None
        if call.key in conversation.kept:
            content, kept = conversation.kept[call.key]
            if content != body:
                raise _refused("idempotency_key_reused", 422)
            return kept
        if body["kind"] not in ("note", "progress", "question", "result"):
            raise _refused("invalid_arguments", 400)
        if body["body"] == "too fast":
            raise _refused("rate_limited", 429)
        event = self._append(conversation, BOB, body["kind"], body["body"], body["reply_to"])
        answer = {"message": event, "latest_seq": event["seq"]}
        conversation.kept[call.key] = (body, answer)
        return answer

    def _acknowledge(self, call: Call[Any], name: str, number: str) -> Json:
        conversation = self._conversation(name)
        changed = int(number) not in conversation.acknowledged
        if changed:
            conversation.acknowledged.add(int(number))
            self._log(conversation, {"type": "reaction", "author": BOB})
        counts = {"ack": {"total": 1, "human": 0}}
        return {"changed": changed, "counts": counts, "latest_seq": conversation.head}

    def _conversation(self, name: str) -> Conversation:
        if name not in self.rooms:
            raise _refused("room_not_found", 404)
        return self.rooms[name]

    def _append(
        self, conversation: Conversation, author: Json, kind: str, body: str, reply_to: int | None
    ) -> Json:
        event = {"type": "message", "author": author, "kind": kind, "body": body}
        return self._log(conversation, {**event, "reply_to": reply_to})

    def _log(self, conversation: Conversation, event: Json) -> Json:
        self._milliseconds += 1
        at = _text(BEGINNING + timedelta(milliseconds=self._milliseconds))
        logged = {"seq": conversation.head + 1, "reason": None, "at": at, **event}
        conversation.log.append(logged)
        return logged


def run(daemon: ConversationDaemon, program: Program[T], kill: Kill | None = None) -> T:
    """What the program returns. Raises KilledError if it lives long enough to be killed."""
    calls = 0
    try:
        step = next(program)
        while True:
            calls += 1
            if kill == (calls, "before"):
                raise KilledError
            try:
                answer = daemon.answer(step)
            except RefusedError as error:
                step = program.throw(error)
                continue
            if kill == (calls, "after"):
                raise KilledError
            step = program.send(answer)
    except StopIteration as stop:
        value: T = stop.value
        return value
    finally:
        program.close()


def _refused(code: str, status: int) -> RefusedError:
    return refusal({"code": code, "detail": f"It is {code}.", "recovery": "No."}, status)


def _text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
