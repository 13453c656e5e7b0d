"""The daemon and the model side by side, and what always holds between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine, invariant

from tests.integration.daemons import Reply
from tests.model.checker import check_log, check_wait
from tests.model.harness import Harness
from tests.model.model import Model
from tests.model.rooms import Json, RefusedError, wakes


@dataclass
class Parked:
    """A call that is parked, and up to where the log did not wake it."""

    who: str
    room: str
    after: int
    wake_on: Sequence[str]
    task: asyncio.Task[Reply]
    head: int


@dataclass(frozen=True)
class Sent:
    """A call that was answered under a key."""

    who: str
    method: str
    path: str
    body: Json
    key: str
    reply: Reply


class SideBySide(RuleBasedStateMachine):
    harness: ClassVar[Harness]

    def __init__(self) -> None:
        super().__init__()
        self.clock = self.harness.clock
        self.model = Model(self.clock.now())
        self.people = [self.harness.new_name("agent") for _ in range(3)]
        self.places = [self.harness.new_name("room") for _ in range(2)]
        self.compared = dict.fromkeys(self.places, 0)
        self.parked: list[Parked] = []
        self.sent: list[Sent] = []

    # --- both at once ---

    def call(
        self,
        who: str,
        method: str,
        path: str,
        body: Any = None,
        idempotency_key: str | None = None,
        **query: Any,
    ) -> Reply:
        party = self.harness.party(who)
        return self.harness.do(
            party.call(method, path, body, idempotency_key=idempotency_key, **query)
        )

    def both(self, reply: Reply, expected: Callable[[], Json]) -> Json | None:
        """What the model answers, when the daemon is not to refuse; else that it refuses alike."""
        codes: tuple[str, ...] = ()
        answer: Json | None = None
        try:
            answer = expected()
        except RefusedError as refused:
            codes = refused.codes
        if codes:
            assert reply.body.get("code") in codes, (reply, codes)
        else:
            assert reply.status < 300, reply.body
        return answer

    def agree(self, reply: Reply, expected: Callable[[], Json]) -> None:
        """As `both`, and the daemon's answer has all that the model's has."""
        answer = self.both(reply, expected)
        if answer is not None:
            found = {name: short(reply.body[name]) for name in answer}
            assert found == answer

    def keyed(self, who: str, method: str, path: str, body: Json) -> Reply:
        key = self.harness.new_name("key")
        reply = self.call(who, method, path, body, key)
        if reply.status < 300:
            self.sent.append(Sent(who, method, path, body, key, reply))
        return reply

    def tick(self, actor: int) -> tuple[str, str]:
        """Who acts where; mostly a member, where it is active.

        A millisecond passes, so that no two things end in the same one.
        """
        self.move(0.001)
        anybody = [(who, place) for who in self.people for place in self.places]
        active = [(who, place) for who, place in anybody if self.model.active_room(who) == place]
        chosen = active if active and actor < 85 else anybody
        return chosen[actor % len(chosen)]

    def move(self, by_seconds: float) -> None:
        self.clock.pass_seconds(by_seconds)
        self.model.now = self.clock.now()

    def number(self, place: str, fraction: float) -> int:
        """A number somewhere in the room, or seldom one beyond it."""
        head = self.model.rooms[place].head if place in self.model.rooms else 0
        return head + 1 if fraction > 0.95 else round(fraction * head)

    def message(self, place: str, fraction: float, kind: str | None = None) -> int:
        """The number of a message, or seldom that of something else."""
        log = self.model.rooms[place].log if place in self.model.rooms else []
        found = [event["seq"] for event in log if event["type"] == "message"]
        if kind:
            found = [seq for seq in found if log[seq - 1]["kind"] == kind]
        if not found or fraction > 0.9:
            return self.number(place, fraction) or 1
        return int(found[int(fraction * len(found))])

    # --- what is said of a room ---

    def draft(self, room: str, kind: str, question: float) -> Json:
        draft = {"kind": kind, "body": self.harness.new_name("body")}
        if kind != "answer":
            return draft
        return draft | {"reply_to": self.message(room, question, "question")}

    def fence(self, room: str, key: str, current: bool) -> int | None:
        """The fence of the lease that was granted last, or one before it."""
        if room not in self.model.rooms:
            return None
        log = self.model.rooms[room].log
        fences = [e["fence"] for e in log if e.get("key") == key and e["reason"] == "claimed"]
        if not fences:
            return None
        return int(fences[-1] if current else fences[0])

    def targets(self, room: str, wake_on: list[str]) -> list[str]:
        """`answer` becomes the answer to a message of the room, or to one that there is not."""
        known = self.model.rooms.get(room)
        messages = [e["seq"] for e in known.log if e["type"] == "message"] if known else []
        target = messages[-1] if messages else 1
        return [f"answer:{target}" if part == "answer" else part for part in wake_on]

    def compare_wait(self, who: str, room: str, after: int, body: Json, answer: Json) -> None:
        found = {name: body[name] for name in answer}
        found["events"] = [short(event) for event in body["events"]]
        assert found == answer
        log = self.harness.do(self.harness.daemon.operator.events(room))
        check_wait(log, body, after, who)

    def expected_row(self, room: str, who: str, waiting: set[str]) -> Json:
        known = self.model.rooms[room]
        member, status = known.members[who], known.statuses.get(who)
        return {
            "state": "active" if member.active else "inactive",
            "cursor": member.cursor,
            "last_seen_seq": member.last_seen,
            "status": status.text if status and status.ends > self.model.now else None,
            "waiting": who in waiting,
        }

    # --- what always holds ---

    @invariant()
    def logs_are_equal(self) -> None:
        operator = self.harness.daemon.operator
        for room, compared in self.compared.items():
            if room in self.model.rooms:
                found = self.harness.do(operator.events(room, compared))
                assert [short(event) for event in found] == self.model.rooms[room].log[compared:]
                self.compared[room] = self.model.rooms[room].head

    @invariant()
    def who_is_woken_is_answered(self) -> None:
        for parked in list(self.parked):
            room = self.model.rooms[parked.room]
            new, parked.head = room.log[parked.head :], room.head
            if not room.members[parked.who].active:
                reply = self.harness.result(parked.task)
                assert reply.body["code"] == "active_membership_not_found"
                self.parked.remove(parked)
            elif any(is_woken(parked, event) for event in new) and self.model.ends_wait(
                parked.who, parked.room, parked.after, parked.wake_on
            ):
                self.answer(parked, "timeout")
        self.harness.settle()
        for parked in self.parked:
            assert not parked.task.done(), parked

    def answer(self, parked: Parked, otherwise: str) -> None:
        reply = self.harness.result(parked.task)
        expected = self.model.end_wait(
            parked.who, parked.room, parked.after, parked.wake_on, 100, otherwise
        )
        if expected["reason"] != "event":
            expected["woken_by"] = []
        self.compare_wait(parked.who, parked.room, parked.after, reply.body, expected)
        self.parked.remove(parked)

    def release_parked(self, reason: str) -> None:
        for parked in list(self.parked):
            self.answer(parked, reason)

    def teardown(self) -> None:
        for parked in self.parked:
            parked.task.cancel()
        self.harness.settle()
        for room in self.model.rooms:
            check_log(self.harness.do(self.harness.daemon.operator.events(room)))


def is_woken(parked: Parked, event: Json) -> bool:
    ends_claim = event["type"] == "claim" and event["reason"] in ("released", "expired", "left")
    if ends_claim and f"free:{event['key']}" in parked.wake_on:
        return True
    return event["author"] != parked.who and wakes(event, parked.wake_on)


def short(value: Any) -> Any:
    """People by their ids alone."""
    if isinstance(value, dict):
        if "conversation_id" in value and "membership_id" in value:
            return value["conversation_id"]
        return {name: short(inner) for name, inner in value.items()}
    return [short(inner) for inner in value] if isinstance(value, list) else value


def row_of(row: Json) -> Json:
    status = row["status"]
    kept = {name: row[name] for name in ("state", "cursor", "last_seen_seq", "waiting")}
    return kept | {"status": status["status"] if status else None}


def query(**values: Any) -> Json:
    return {name: value for name, value in values.items() if value is not None}
