"""The blocking front: `Client` and `Room`. A client may be shared by threads."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from .answers import Joined
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
from .sync_connections import drive
from .sync_leases import SyncLease

P = ParamSpec("P")
T = TypeVar("T")


def _client_method(
    operation: Callable[P, Work[T]],
) -> Callable[Concatenate[Client, P], T]:
    @functools.wraps(operation)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.run(operation(*args, **kwargs))

    return method


def _room_method(
    operation: Callable[Concatenate[str, P], Work[T]],
) -> Callable[Concatenate[Room, P], T]:
    @functools.wraps(operation)
    def method(self: Room, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.client.run(operation(self.ref, *args, **kwargs))

    return method


class Client(ClientBase):
    __doc__ = ClientBase.__doc__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, work: Work[T]) -> T:
        """Do what an operation says, also one that has no method here."""
        return drive(self.session.run(work))

    def document(self, call: Call[Any]) -> Json:
        """The answer to a call as the JSON object it came as."""
        return drive(self.session.document(call))

    def text(self, call: Call[Any]) -> str:
        """The answer to a call that is answered with plain text."""
        return drive(self.session.text(call))

    me = _client_method(room_calls.me)
    rooms = _client_method(room_calls.rooms)
    participants = _client_method(room_calls.participants)
    conversations = _client_method(conversation_calls.conversations)
    wait = _client_method(wait_calls.wait_many)
    unread = _client_method(wait_calls.unread)
    confirm = _client_method(wait_calls.confirm)
    search = _client_method(message_calls.search)

    def room(self, ref: str) -> Room:
        """A handle on a room by slug, id or name; asks nothing."""
        return Room(self, ref)

    def create_room(self, name: str, *, idempotency_key: str | None = None) -> Room:
        """Make a room and join it."""
        joined = self.run(room_calls.create_room(name, idempotency_key=idempotency_key))
        return Room(self, joined.room.ref, joined)

    def join(self, room: str, *, create: bool = False) -> Room:
        """Join a room; with `create` make it if there is none of that name."""
        join = room_calls.join_or_create if create else room_calls.join
        joined = self.run(join(room))
        return Room(self, joined.room.ref, joined)

    def open_conversation(self, with_: str) -> Room:
        """The conversation with that participant, the same one every time."""
        return Room(self, self.run(conversation_calls.open_conversation(with_)).ref)


class Room(RoomBase):
    __doc__ = RoomBase.__doc__

    def __init__(self, client: Client, ref: str, joined: Joined | None = None) -> None:
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

    def follow(
        self,
        after_seq: int | None = None,
        *,
        wake_on: WakeOn = "message",
        limit: int = 100,
        patience_s: float = FOLLOW_PATIENCE_S,
    ) -> Generator[Followed, None, None]:
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
            yield from self.client.run(follower.turn())

    def stream(
        self, after_seq: int | None = None, *, patience_s: float = FOLLOW_PATIENCE_S
    ) -> Generator[Followed, None, None]:
        """Every event after `after_seq` (or from now on), one's own too, as it happens.

        For looking on: it does not count as waiting, and whoever may read the room may stream it.
        Restarts, gaps and errors are as in `follow`; after a HistoryRestored the log comes from its
        beginning.
        """
        stream = EventStream(self.client.session, self.ref, after_seq, patience_s, event)
        try:
            while True:
                yield from self.client.run(stream.turn())
        finally:
            stream.close()

    def claim(
        self,
        key: str,
        *,
        lease_s: int = DEFAULT_LEASE_S,
        proposed_by_seq: int | None = None,
        timeout_s: float = 0.0,
    ) -> SyncLease:
        """A claim as a lock: `with room.claim("the-draft") as lease: …`

        It is taken at the beginning (ClaimConflictError when another holds it and does not let go
        within `timeout_s`), renewed by a thread at a third of `lease_s`, and released at the end.
        When it is lost, `lease.lost` turns true, `lease.check()` raises LeaseLostError, and so
        does the end of the block. Give `if_claim=lease` to `post`, and the daemon checks it too.
        A claim belongs to a participant: two blocks that act as the same one do not exclude each
        other.
        """
        return SyncLease(
            self.client.session,
            self.ref,
            key,
            lease_s=lease_s,
            proposed_by_seq=proposed_by_seq,
            timeout_s=timeout_s,
        )
