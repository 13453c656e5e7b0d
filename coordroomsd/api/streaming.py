"""A room's log as a stream: what is there after a number, then what comes, until somebody stops."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import orjson

from coordroomsd.api.call import Call
from coordroomsd.api.fields import MAX_SEQ
from coordroomsd.api.views import gap_view
from coordroomsd.domain.commands import Cursor
from coordroomsd.domain.errors import Refusal, invalid
from coordroomsd.domain.rooms import Member
from coordroomsd.live.tail import Entry
from coordroomsd.live.waiters import Waiter
from coordroomsd.store import history

HEARTBEAT_S = 15.0
RETRY = b"retry: 1000\n\n"
HEARTBEAT = b": still here\n\n"
# Events read from the store at once, for a stream that begins, or has fallen, far behind.
_PAGE = 200

Emit = Callable[[bytes], Awaitable[None]]


async def _at_once() -> None:
    """For a reader that takes everything."""


class Stream:
    """Chunks of server-sent events. Made by `begin`, which raises what a call is refused with."""

    def __init__(self, call: Call, member: Member | None, after_seq: int) -> None:
        self._call = call
        self._room = call.room
        self._member = member
        self._after_seq = after_seq
        self._told_gap_to = 0

    @classmethod
    async def begin(cls, call: Call) -> Stream:
        """Behind `Last-Event-ID`, which browsers send again, else behind `after_seq`, else live."""
        member = await call.reader()
        after_seq = call.cursor.after_seq
        last = call.request.last_event_id
        if last is not None:
            if not (last.isascii() and last.isdigit() and len(last) < 20 and int(last) <= MAX_SEQ):
                raise invalid("Last-Event-ID", f"should be an event's number, not {last[:40]!r}")
            after_seq = int(last)
        call.check_cursor(call.room, Cursor(after_seq, call.cursor.generation))
        return cls(call, member, call.room.state.head if after_seq is None else after_seq)

    async def run(self, emit: Emit, ready: Callable[[], Awaitable[None]] = _at_once) -> None:
        """Hand chunks to `emit` until the stream has to end.

        Nothing is read for a chunk before `ready` has returned: what a slow reader waits for is
        in the store, and not here.
        """
        hub = self._call.services.hub
        caller = self._call.request.caller
        waiter = Waiter(caller.credential, self._call.actor, caller.session)
        hub.register(waiter, stream=True)
        self._room.waiters.add_stream(waiter, self._member.id if self._member else 0)
        try:
            await emit(RETRY)
            reason = await self._until_closing(waiter, emit, ready)
            await emit(_named("closing", {"reason": reason}))
        finally:
            self._room.waiters.discard_stream(waiter)
            hub.discard(waiter)

    async def _until_closing(
        self, waiter: Waiter, emit: Emit, ready: Callable[[], Awaitable[None]]
    ) -> str:
        while True:
            try:
                waiter.rearm()
                await ready()
                while entries := await self._next_entries(emit):
                    await emit(b"".join(map(_frame, entries)))
                    self._shown(entries[-1].event.seq)
                    del entries
                    await ready()
                if self._call.services.hub.closing:
                    return "closing"
                async with asyncio.timeout(HEARTBEAT_S):
                    await waiter.parked()
            except TimeoutError:
                await emit(HEARTBEAT)
            except Refusal as refusal:
                return "revoked" if refusal.code == "unauthorized" else "left"

    async def _next_entries(self, emit: Emit) -> list[Entry]:
        entries = self._room.tail.after(self._after_seq)
        if entries is not None:
            return entries
        page = await history.events(
            self._call.services.reads, self._room.state, self._after_seq, _PAGE
        )
        gap = gap_view(self._room, self._after_seq)
        if gap and gap["to_seq"] > self._told_gap_to:
            self._told_gap_to = gap["to_seq"]
            await emit(_named("gap", gap))
        return [Entry(event) for event in page.events]

    def _shown(self, seq: int) -> None:
        self._call.shown(self._member, self._after_seq, seq)
        self._after_seq = seq


def _frame(entry: Entry) -> bytes:
    return b"id: %d\ndata: %s\n\n" % (entry.event.seq, entry.encoded)


def _named(name: str, data: object) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data))
