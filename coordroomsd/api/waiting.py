"""The long poll: register, look, park, look again.

A waiter registers before it looks, so that whatever is published in between wakes it.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import orjson

from coordroomsd.api import places, schemas
from coordroomsd.api.call import Call
from coordroomsd.api.looking import Look, answer, encode, look
from coordroomsd.domain import wake
from coordroomsd.domain.commands import Cursor
from coordroomsd.domain.members import not_active
from coordroomsd.domain.reactions import message_not_found
from coordroomsd.domain.rooms import Member
from coordroomsd.domain.wake import Interest
from coordroomsd.journal.submissions import Answer
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.live.tracing import CURRENT
from coordroomsd.live.waiters import Waiter
from coordroomsd.store import history

# A time-out is shortened by up to this part, so that callers that were parked together do not
# return together.
_JITTER = 0.1


class Watched(NamedTuple):
    """One room of a wait. `name` is what the caller calls it."""

    name: str
    room: LiveRoom
    member: Member
    after_seq: int
    interest: Interest


class Ended(NamedTuple):
    """How a wait came to its end, and what each one looked like then."""

    reason: str
    looks: list[Look]
    # See Answer.
    woken_at: float | None


async def wait(call: Call) -> Answer:
    one, timeout_s, limit = await _asked(call)
    call.settle()
    reason, [found], woken_at = await _wait(call, [one], timeout_s, limit)
    body = answer(one.room, found, call.services.generation, reason)
    return Answer(200, body, woken_at=woken_at)


async def _asked(call: Call) -> tuple[Watched, float, int]:
    asked: schemas.Wait = call.arguments
    interest = wake.interest(asked.wake_on)
    one = await _watched(call, "", call.room, asked.after_seq, interest, asked.generation)
    return one, asked.timeout_s, asked.limit


async def wait_on_many(call: Call) -> Answer:
    asked: schemas.WaitOnMany = call.body
    rooms = await places.find_each(call, asked.cursors)
    generation = call.arguments.generation
    watched = [
        await _watched(
            call, name, room, asked.cursors[name], _interest_in(name, asked.wake_on), generation
        )
        for name, room in rooms.items()
    ]
    reason, looks, woken_at = await _wait(call, watched, asked.timeout_s, asked.limit)
    news = [
        (one, found)
        for one, found in zip(watched, looks, strict=True)
        if found.entries or (reason == "event" and _ends(call, one, found))
    ]
    encoded = [
        orjson.dumps(one.name)
        + b":"
        + encode(one.room, found, call.services.generation, reason=None)
        for one, found in news
    ]
    rooms_json = b",".join(encoded)
    body = b'{"reason":"%s","rooms":{%s}}' % (reason.encode(), rooms_json)
    return Answer(200, body, woken_at=woken_at)


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


async def _watched(
    call: Call,
    name: str,
    room: LiveRoom,
    after_seq: int | None,
    interest: Interest,
    generation: str | None,
) -> Watched:
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
    return Watched(name, room, member, after_seq, interest)


async def _wait(call: Call, watched: list[Watched], timeout_s: float, limit: int) -> Ended:
    services = call.services
    caller = call.request.caller
    waiter = Waiter(caller.credential, call.actor, caller.session)
    deadline = _register(call, waiter, watched, timeout_s) if timeout_s else None
    try:
        while True:
            waiter.rearm()
            for one in watched:
                _refuse_who_left(call, one)
            looks = [
                await look(services.reads, p.room, p.after_seq, limit, p.member.id, p.interest)
                for p in watched
            ]
            if any(_ends(call, p, found) for p, found in zip(watched, looks, strict=True)):
                reason = "event"
            elif services.hub.closing:
                reason = "closing"
            elif waiter.timed_out or not timeout_s:
                reason = "timeout"
            else:
                await waiter.parked()
                continue
            span = CURRENT.get()
            for one, found in zip(watched, looks, strict=True):
                services.positions.shown(
                    one.room, one.member.id, found.after_seq, found.next_after_seq
                )
                if span:
                    span.woken_by(one.room.state.id, found.woken_by)
            return Ended(reason, looks, waiter.woken_at if reason == "event" else None)
    finally:
        if deadline:
            deadline.cancel()
            _discard(call, waiter, watched)


def _refuse_who_left(call: Call, one: Watched) -> None:
    """Leaving ends a parked call; one that was about to park finds out here."""
    if not one.room.state.memberships[one.member.id].active:
        raise not_active(one.room.state, call.acting)


def _ends(call: Call, one: Watched, found: Look) -> bool:
    if found.woken_by or not one.interest.free:
        return bool(found.woken_by)
    return one.interest.finds_free(one.room.state, call.services.clock.now())


def _register(
    call: Call, waiter: Waiter, watched: list[Watched], timeout_s: float
) -> asyncio.TimerHandle:
    """Let the waiter be woken by its rooms, its deadline, which is returned, and the hub."""
    call.services.hub.register(waiter)
    for one in watched:
        one.room.waiters.add(waiter, one.interest, one.member.id)
    shortened = timeout_s * (1 - _JITTER * call.services.jitter())
    return asyncio.get_running_loop().call_later(shortened, waiter.expire)


def _discard(call: Call, waiter: Waiter, watched: list[Watched]) -> None:
    call.services.hub.discard(waiter)
    for one in watched:
        one.room.waiters.discard(waiter, one.interest)
