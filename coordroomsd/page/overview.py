"""All rooms of a project as one stream of server-sent events, for the page that shows them.

The contract's waits are for members of a room, and its streams are of one room each; a person who
looks at everything would need one for every room. This is one waiter, whatever it looks at.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import orjson

from coordroomsd.api.callers import Caller
from coordroomsd.api.services import Services
from coordroomsd.api.streaming import HEARTBEAT, RETRY
from coordroomsd.domain import ids
from coordroomsd.domain.errors import Refusal, invalid
from coordroomsd.domain.participants import Actor
from coordroomsd.domain.text import instant
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.live.waiters import Waiter
from coordroomsd.page.cards import Cards
from coordroomsd.store import glances, reads

# Who waits, and who has called, changes without an event.
LOOK_EVERY_S = 3.0
# A busy room is shown this often; people read no faster.
PAUSE_S = 0.5
# Every so many looks without a change a sign of life: proxies and sleeping laptops cut silence.
_SILENT_LOOKS = 5

# What fits on a page that one reads; the rest is one list away.
ACTIVE_ROOMS = 100
FURTHER_ROOMS = 20
CONVERSATIONS = 100


def seen_in(sent: object) -> dict[str, int]:
    """Up to which number a browser has shown each room, by id. Raises `invalid_arguments`."""
    if sent is None:
        return {}
    if isinstance(sent, dict) and all(type(seq) is int and seq >= 0 for seq in sent.values()):
        return sent
    raise invalid("seen", "should have a whole number for the id of each room")


class Overview:
    """`register` first, then `chunks`, which ends with the daemon or the person's session."""

    def __init__(self, services: Services, caller: Caller, seen: Mapping[str, int]) -> None:
        self._services = services
        self._caller = caller
        self._name = caller.name or ""
        self._cards = Cards(services, self._name, seen)
        self._waiter = Waiter(caller.credential, session=caller.session)
        self._rooms: dict[int, LiveRoom] = {}
        self._sent: dict[int, bytes] = {}

    def register(self) -> None:
        """Raises `too_many_waiters` or `unauthorized`."""
        self._services.hub.register(self._waiter, stream=True)

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            yield RETRY
            async for chunk in self._until_closing():
                yield chunk
        finally:
            self._services.hub.discard(self._waiter)
            for room in self._rooms.values():
                room.waiters.discard_stream(self._waiter)

    async def _until_closing(self) -> AsyncIterator[bytes]:
        silent = 0
        is_first = True
        while True:
            try:
                self._waiter.rearm()
                chunk = await self._news()
                if is_first:
                    chunk += _event("ready", {"now": instant(self._services.clock.now())})
                    is_first = False
                silent = 0 if chunk else silent + 1
                if chunk or silent % _SILENT_LOOKS == 0:
                    yield chunk or HEARTBEAT
                if self._services.hub.closing:
                    yield _event("closing", {"reason": "closing"})
                    return
                await asyncio.sleep(PAUSE_S)
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._waiter.parked()
            except TimeoutError:
                continue
            except Refusal:
                yield _event("closing", {"reason": "revoked"})
                return

    async def _news(self) -> bytes:
        """Events for what is not as it was last sent."""
        rooms = await self._shown_rooms()
        news = [_event("gone", {"id": one}) for one in self._update(rooms)]
        for number, room in rooms.items():
            encoded = orjson.dumps(await self._cards.card(room))
            if self._sent.get(number) != encoded:
                self._sent[number] = encoded
                news.append(b"event: card\ndata: %b\n\n" % encoded)
        return b"".join(news)

    async def _shown_rooms(self) -> dict[int, LiveRoom]:
        services, project = self._services, self._caller.project
        numbers = await glances.recent_rooms(services.reads, project, ACTIVE_ROOMS, FURTHER_ROOMS)
        numbers += await self._conversations()
        found = {number: await services.rooms.get(number) for number in numbers}
        return {number: room for number, room in found.items() if room}

    async def _conversations(self) -> list[int]:
        reader, project = self._services.reads, self._caller.project
        if self._caller.role == "operator":
            return await glances.recent_conversations(reader, project, CONVERSATIONS)
        actor = Actor(project, self._name, self._caller.kind, self._caller.role)
        participant = await self._services.participants.get(actor)
        if participant is None:
            return []
        return (await reads.conversations_of(reader, participant.id))[-CONVERSATIONS:]

    def _update(self, rooms: dict[int, LiveRoom]) -> list[str]:
        """Be woken by these rooms and no others; the ids of those that are shown no more."""
        gone = []
        for number, room in self._rooms.items():
            if rooms.get(number) is not room:
                room.waiters.discard_stream(self._waiter)
            if number not in rooms and self._sent.pop(number, b""):
                gone.append(ids.room_id(number))
        for room in rooms.values():
            room.waiters.add_stream(self._waiter, 0)
        self._rooms = rooms
        self._cards.forget_all_but(rooms)
        return gone


def _event(name: str, data: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), orjson.dumps(data))
