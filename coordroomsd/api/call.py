"""One call on its way through the checks, and what a handler may ask of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import orjson

from coordroomsd.api.answers import AnswerModel
from coordroomsd.api.callers import Caller
from coordroomsd.api.fields import Fields
from coordroomsd.api.schemas import Nothing
from coordroomsd.api.services import Services
from coordroomsd.domain.commands import Command, Counted, Cursor
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.members import never_joined, not_active, refuse_cursor
from coordroomsd.domain.participants import Actor, Participant
from coordroomsd.domain.rooms import Member
from coordroomsd.journal.submissions import Answer, KeyedCall, Respond
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store import history

# Who may call: anybody with a credential; one who acts for a participant; that or the operator; a
# reader of the room.
Needs = Literal["nobody", "participant", "participant_or_operator", "operator"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One call. `path` is what follows /api/v1; its room is found before the handler runs."""

    id: str
    method: str
    path: str
    summary: str
    handler: Callable[[Call], Awaitable[Answer]]
    needs: Needs
    answer: type[AnswerModel]
    status: int = 200
    body: type[Fields] | None = None
    query: type[Fields] = Nothing
    # The codes that it may be refused with, beside those of every call.
    refusals: tuple[str, ...] = ()
    takes_key: bool = False
    key_required: bool = False
    # Another status that it may be answered with.
    also: int | None = None
    # It needs no credential; this bucket of the caller's address is looked at before everything
    # else.
    by_address: str | None = None
    # It may stay for minutes, and ends when its caller goes away.
    parks: bool = False
    # With Accept: text/event-stream it is a stream.
    streams: bool = False

    @property
    def has_room(self) -> bool:
        return "{room}" in self.path or "{conversation}" in self.path


class Request(NamedTuple):
    """A call as it came in: `body` is parsed JSON, None when there was none."""

    caller: Caller
    parameters: Mapping[str, str]
    query: Sequence[tuple[str, str]] = ()
    body: Any = None
    conversation: str | None = None
    key: str | None = None
    last_event_id: str | None = None
    # How the caller's host can wake it, said by a hook.
    wake: str | None = None


@dataclass(slots=True)
class Call:
    """Filled in step by step by the pipeline; a handler finds all that its operation needs."""

    services: Services
    operation: Operation
    request: Request
    actor: Actor | None = None
    live: LiveRoom | None = None
    keyed: KeyedCall | None = None
    body: Any = None
    arguments: Any = None
    # From here on the journal looks for a kept answer.
    handed_over: bool = field(default=False)

    def settle(self) -> None:
        """Let go of what was read from the request, before the call parks: 2 KiB for minutes."""
        self.body = self.arguments = None
        self.request = self.request._replace(query=(), body=None)

    @property
    def acting(self) -> Actor:
        """The acting participant. Raises `conversation_required`."""
        if self.actor is None:
            raise Refusal(
                "conversation_required",
                f"{self.operation.summary}: the call does not say for which participant.",
            )
        return self.actor

    @property
    def room(self) -> LiveRoom:
        """The room in the path, where the operation has one."""
        if self.live is None:
            raise AssertionError(f"{self.operation.id} has no room")
        return self.live

    @property
    def cursor(self) -> Cursor:
        return Cursor(
            getattr(self.arguments, "after_seq", None), getattr(self.arguments, "generation", None)
        )

    async def store(self, command: Command, respond: Respond) -> Answer:
        """Hand a command to the journal; its answer, or a kept one."""
        self.handed_over = True
        return await self.services.journal.execute(command, respond, self.keyed)

    async def participant(self) -> Participant | None:
        return await self.services.participants.get(self.acting)

    async def member(self, room: LiveRoom | None = None) -> Member:
        """The caller's active membership. Raises what a member's call is refused with."""
        room = room or self.room
        participant = await self.participant()
        member = room.state.members.get(participant.id) if participant else None
        if member is None:
            raise never_joined(room.state, self.acting)
        if not member.active:
            raise not_active(room.state, self.acting)
        self.services.positions.called(room, member.id, self.services.clock.now())
        return member

    async def reader(self) -> Member | None:
        """The caller's membership if it has an active one; None for one who reads from outside.

        People and operators read every room of their project; agents those that they are active in.
        """
        role = self.actor.role if self.actor else self.request.caller.role
        if self.actor is None:
            return None
        participant = await self.participant()
        member = self.room.state.members.get(participant.id) if participant else None
        if member and member.active:
            self.services.positions.called(self.room, member.id, self.services.clock.now())
            return member
        if role == "operator" or (role == "human" and self.room.state.kind == "room"):
            return None
        if member is None:
            raise never_joined(self.room.state, self.actor)
        raise not_active(self.room.state, self.actor)

    def check_cursor(self, room: LiveRoom, cursor: Cursor) -> None:
        refuse_cursor(room.state, cursor, self.services.generation)

    async def counted(self, after_seq: int | None) -> Counted | None:
        """Others' messages after a number that lies before the room's tail."""
        if after_seq is None or after_seq >= self.room.tail.start:
            return None
        participant = await self.participant()
        member = self.room.state.members.get(participant.id) if participant else None
        if member is None:
            return None
        head = self.room.state.head
        messages = await history.count_messages_by_others(
            self.services.reads, self.room.state.id, after_seq, head, member.id
        )
        return Counted(messages, head)

    def shown(self, member: Member | None, began: int, ended: int) -> None:
        """A reader was shown everything after `began` and up to `ended`."""
        if member:
            self.services.positions.shown(self.room, member.id, began, ended)


def json_answer(status: int, value: Any) -> Answer:
    return Answer(status, orjson.dumps(value))


def fingerprint(body: Any, query: Sequence[tuple[str, str]]) -> bytes:
    """What a call says, whatever its spelling: the hash of parsed body and query."""
    content = [sorted(query), body]
    try:
        canonical = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # Half a surrogate pair, which the fields' check refuses; a kept answer comes before that.
        canonical = json.dumps(content, sort_keys=True).encode()
    return hashlib.sha256(canonical).digest()
