"""The long poll: register, look, park, look again.

A waiter registers before it looks, so that whatever is published in between wakes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import orjson

from coordroomsd.api import schemas
from coordroomsd.api.call import Call
from coordroomsd.api.looking import Look, encode, look
from coordroomsd.domain import wake
from coordroomsd.domain.commands import Cursor
from coordroomsd.domain.reactions import message_not_found
from coordroomsd.domain.rooms import Member
from coordroomsd.domain.wake import Interest
from coordroomsd.journal.submissions import Answer
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.live.waiters import Waiter
from coordroomsd.store import history

# A time-out is shortened by up to this part, so that callers that were parked together do not return together.
_JITTER = 0.1


class Place(NamedTuple):
    """One room of a wait. `name` is what the caller calls it."""

    name: str
    room: LiveRoom
    member: Member
    after_seq: int
    interest: Interest


class Ended(NamedTuple):
    """How a wait came to its end, and what each place looked like then."""

    reason: str
    looks: list[Look]


async def wait(call: Call) -> Answer:
    asked: schemas.Wait = call.arguments
    place = await _place(
        call, "", call.room, asked.after_seq, wake.interest(asked.wake_on), call.cursor.generation
    )
    reason, [found] = await _wait(call, [place], asked.timeout_s, asked.limit)
    return Answer(200, encode(place.room, found, call.services.generation, reason=reason))


async def wait_on_many(call: Call) -> Answer:
    asked: schemas.WaitOnMany = call.body
    rooms = {name: await call.room_named(name) for name in asked.cursors}
    generation = call.arguments.generation
    places = [
        await _place(
            call, name, room, asked.cursors[name], _interest_in(name, asked.wake_on), generation
        )
        for name, room in rooms.items()
    ]
    reason, looks = await _wait(call, places, asked.timeout_s, asked.limit)
    now = call.services.clock.now()
    news = [
        (place, found)
        for place, found in zip(places, looks, strict=True)
        if found.entries or (reason == "event" and _ends(place, found, now))
    ]
    encoded = [
        orjson.dumps(place.name)
        + b":"
        + encode(place.room, found, call.services.generation, reason=None)
        for place, found in news
    ]
    rooms_json = b",".join(encoded)
    return Answer(200, b'{"reason":"%s","rooms":{%s}}' % (reason.encode(), rooms_json))


def _interest_in(name: str, wake_on: list[str]) -> Interest:
    """What a wait on many asks of one of its rooms: kinds are of all, targets name theirs."""
    parts = []
    for part in wake_on:
        kind, colon, target = part.partition(":")
        if not colon:
            parts.append(part)
        elif target.startswith(f"{name}/"):
            parts.append(f"{kind}:{target.removeprefix(f'{name}/')}")
    return wake.interest(parts)


async def _place(
    call: Call,
    name: str,
    room: LiveRoom,
    after_seq: int | None,
    interest: Interest,
    generation: str | None,
) -> Place:
    """Check one room of a wait, and take its number as proof of what the caller has."""
    member = await call.member(room)
    call.check_cursor(room, Cursor(after_seq, generation))
    if interest.answers:
        known = await history.messages_at(call.services.reads, room.state, interest.answers)
        for target in sorted(interest.answers - set(known)):
            raise message_not_found(room.state, target)
    if after_seq is None:
        after_seq = room.positions[member.id].cursor
    else:
        call.services.positions.prove(room, member.id, after_seq)
    return Place(name, room, member, after_seq, interest)


async def _wait(call: Call, places: list[Place], timeout_s: float, limit: int) -> Ended:
    services = call.services
    waiter = Waiter(call.request.caller.credential)
    with _registered(call, waiter, places, timeout_s):
        while True:
            waiter.rearm()
            looks = [
                await look(services.reads, p.room, p.after_seq, limit, p.member.id, p.interest)
                for p in places
            ]
            now = services.clock.now()
            if any(_ends(p, found, now) for p, found in zip(places, looks, strict=True)):
                reason = "event"
            elif services.hub.closing:
                reason = "closing"
            elif waiter.timed_out or not timeout_s:
                reason = "timeout"
            else:
                await waiter.parked()
                continue
            for place, found in zip(places, looks, strict=True):
                services.positions.shown(
                    place.room, place.member.id, found.after_seq, found.next_after_seq
                )
            return Ended(reason, looks)


def _ends(place: Place, found: Look, now: object) -> bool:
    return bool(found.woken_by) or place.interest.finds_free(place.room.state, now)  # type: ignore[arg-type]


@contextmanager
def _registered(
    call: Call, waiter: Waiter, places: list[Place], timeout_s: float
) -> Iterator[None]:
    """Let the waiter be woken by its rooms, its deadline and the hub. A look alone needs none of it."""
    if not timeout_s:
        yield
        return
    hub = call.services.hub
    hub.register(waiter)
    shortened = timeout_s * (1 - _JITTER * call.services.jitter())
    deadline = asyncio.get_running_loop().call_later(shortened, waiter.expire)
    for place in places:
        place.room.waiters.add(waiter, place.interest, place.member.id)
    try:
        yield
    finally:
        deadline.cancel()
        hub.discard(waiter)
        for place in places:
            place.room.waiters.discard(waiter, place.interest)
