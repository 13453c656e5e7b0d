"""The asynchronous front: `AsyncClient` and `AsyncRoom`."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from .answers import Joined
from .async_connections import drive
from .async_leases import AsyncLease
from .calls import Call, Work
from .events import event
from .follows import FOLLOW_PATIENCE_S, Followed, Follower
from .fronts import ClientBase, RoomBase
from .models import Json
from .operations import conversations as conversation_calls
from .operations import messages as message_calls
from .operations import rooms as room_calls
from .operations import signals as signal_calls
from .operations import waits as wait_calls
from .operations.signals import DEFAULT_LEASE_S
from .operations.waits import WakeOn
from .streams import EventStream

__all__ = ["AsyncClient", "AsyncLease", "AsyncRoom"]

P = ParamSpec("P")
T = TypeVar("T")


def _client_method(
    operation: Callable[P, Work[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    @functools.wraps(operation)
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.run(operation(*args, **kwargs))

    return method


def _room_method(
    operation: Callable[Concatenate[str, P], Work[T]],
) -> Callable[Concatenate[AsyncRoom, P], Coroutine[Any, Any, T]]:
    @functools.wraps(operation)
    async def method(self: AsyncRoom, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.client.run(operation(self.ref, *args, **kwargs))

    return method


class AsyncClient(ClientBase):
    __doc__ = ClientBase.__doc__

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def run(self, work: Work[T]) -> T:
        """Do what an operation says, also one that has no method here."""
        return await drive(self.session.run(work))

    async def document(self, call: Call[Any]) -> Json:
        """The answer to a call as the JSON object it came as."""
        return await drive(self.session.document(call))

    async def text(self, call: Call[Any]) -> str:
        """The answer to a call that is answered with plain text."""
        return await drive(self.session.text(call))

    me = _client_method(room_calls.me)
    rooms = _client_method(room_calls.rooms)
    participants = _client_method(room_calls.participants)
    conversations = _client_method(conversation_calls.conversations)
    wait = _client_method(wait_calls.wait_many)
    unread = _client_method(wait_calls.unread)
    confirm = _client_method(wait_calls.confirm)
    search = _client_method(message_calls.search)

    def room(self, ref: str) -> AsyncRoom:
        """A handle on a room by slug, id or name; asks nothing."""
        return AsyncRoom(self, ref)

    async def create_room(self, name: str, *, idempotency_key: str | None = None) -> AsyncRoom:
        """Make a room and join it."""
        joined = await self.run(room_calls.create_room(name, idempotency_key=idempotency_key))
        return AsyncRoom(self, joined.room.ref, joined)

    async def join(self, room: str, *, create: bool = False) -> AsyncRoom:
        """Join a room; with `create` make it if there is none of that name."""
        join = room_calls.join_or_create if create else room_calls.join
        joined = await self.run(join(room))
        return AsyncRoom(self, joined.room.ref, joined)

    async def open_conversation(self, with_: str) -> AsyncRoom:
        """The conversation with that participant, the same one every time."""
        return AsyncRoom(self, (await self.run(conversation_calls.open_conversation(with_))).ref)


class AsyncRoom(RoomBase):
    __doc__ = RoomBase.__doc__

    def __init__(self, client: AsyncClient, ref: str, joined: Joined | None = None) -> None:
        super().__init__(ref, joined)
        self.client = client

    overview = _room_method(room_calls.overview)
    members = _room_method(room_calls.members)
    leave = _room_method(room_calls.leave)
    post = _room_method(message_calls.post)
    post_many = _room_method(message_calls.post_many)
    ask = _room_method(message_calls.ask)
    answer = _room_method(message_calls.answer)
    history = _room_method(message_calls.history)
    events = _room_method(message_calls.events)
    message = _room_method(message_calls.one_message)
    receipts = _room_method(message_calls.receipts)
    wait = _room_method(wait_calls.wait)
    set_status = _room_method(signal_calls.set_status)
    clear_status = _room_method(signal_calls.clear_status)
    react = _room_method(signal_calls.react)
    unreact = _room_method(signal_calls.unreact)
    reactions = _room_method(signal_calls.reactions)
    claims = _room_method(signal_calls.claims)
    take = _room_method(signal_calls.take)
    release = _room_method(signal_calls.release)
    send = _room_method(conversation_calls.send)
    thread = _room_method(conversation_calls.thread)
    acknowledge = _room_method(conversation_calls.acknowledge)

    async def follow(
        self,
        after_seq: int | None = None,
        *,
        wake_on: WakeOn = "message",
        limit: int = 100,
        patience_s: float = FOLLOW_PATIENCE_S,
    ) -> AsyncGenerator[Followed, None]:
        """Every event by others after `after_seq` (or the durable cursor), once and in order.

        Events of all types come, as soon as one of a kind in `wake_on` is among them or a wait
        has timed out. A restart of the daemon is not noticed, unless it stays away for
        `patience_s` (DaemonUnreachableError). Going on to the next event confirms those before
        it. A RetentionGap stands for events that were removed. A HistoryRestored says that the
        daemon's database was restored from an older copy: what comes next begins anew, at the
        cursor that is known there.
        """
        follower = Follower(self.ref, after_seq, wake_on, limit, patience_s)
        while True:
            for item in await self.client.run(follower.turn()):
                yield item

    async def stream(
        self, after_seq: int | None = None, *, patience_s: float = FOLLOW_PATIENCE_S
    ) -> AsyncGenerator[Followed, None]:
        """Every event after `after_seq` (or from now on), one's own too, as it happens.

        For looking on: it does not count as waiting, and whoever may read the room may stream it.
        Restarts, gaps and errors are as in `follow`; after a HistoryRestored the log comes from its
        beginning.
        """
        stream = EventStream(self.client.session, self.ref, after_seq, patience_s, event)
        try:
            while True:
                for item in await self.client.run(stream.turn()):
                    yield item
        finally:
            stream.close()

    def claim(
        self,
        key: str,
        *,
        lease_s: int = DEFAULT_LEASE_S,
        proposed_by_seq: int | None = None,
        timeout_s: float = 0.0,
    ) -> AsyncLease:
        """A claim as a lock: `async with room.claim("the-draft") as lease: …`

        It is taken at the beginning (ClaimConflictError when another holds it and does not let go
        within `timeout_s`), renewed at a third of `lease_s`, and released at the end. When it is
        lost the block is cancelled, and LeaseLostError is raised from it. Give `if_claim=lease`
        to `post`, and the daemon checks it too. A claim belongs to a participant: two blocks that
        act as the same one do not exclude each other.
        """
        return AsyncLease(
            self.client.session,
            self.ref,
            key,
            lease_s=lease_s,
            proposed_by_seq=proposed_by_seq,
            timeout_s=timeout_s,
        )
