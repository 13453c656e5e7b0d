"""A hundred callers claim one key at once, again and again, and the daemon is killed among them.

Each time one of them holds it, under a higher fence than the one before, and whoever held it
before can neither release nor renew it any more.
"""

from __future__ import annotations

import asyncio
import random
from typing import Final

from tests.daemon_processes import DaemonProcess
from tests.faults.traffic import whole_log
from tests.http_callers import Caller, Reply
from tests.model.checker import Json, check_log
from tests.polling import GIVE_UP_AFTER_S

CALLERS: Final = 100
ROOM: Final = "/rooms/workshop"
CLAIMS: Final = f"{ROOM}/claims"
KEY: Final = "the-draft"


async def test_one_holder_each_time(
    daemon: DaemonProcess, rounds: int, chances: random.Random
) -> None:
    callers = [daemon.caller(f"caller-{number}") for number in range(CALLERS)]
    assert (await callers[0].call("POST", "/rooms", {"name": "workshop"})).status == 201
    for caller in callers[1:]:
        assert (await caller.call("POST", f"{ROOM}/join")).status == 200
    former: tuple[Caller, int] | None = None
    for number in range(rounds):
        async with asyncio.timeout(GIVE_UP_AFTER_S):
            holder, fence = await claimed_by_one(daemon, callers, number, chances)
            if former:
                assert fence > former[1]
                await cannot_act_on(holder, fence, *former)
            await release(holder, fence)
        former = holder, fence
    log = await whole_log(callers[0], ROOM)
    check_log(log)
    claims = [event["reason"] for event in log if event["type"] == "claim"]
    # The holder, too, claims anew when its answer was lost.
    assert [c for c in claims if c != "renewed"] == ["claimed", "released"] * rounds


async def claimed_by_one(
    daemon: DaemonProcess, callers: list[Caller], number: int, chances: random.Random
) -> tuple[Caller, int]:
    """Let all of them claim at once; the one that holds it then, and its fence."""
    chances.shuffle(callers)
    # Half of them retry under a key, the others claim anew, which renews what they hold.
    claiming = [
        asyncio.create_task(claim(caller, f"{number}" if chances.random() < 0.5 else None))
        for caller in callers
    ]
    if chances.random() < 0.5:
        await asyncio.sleep(chances.uniform(0, 0.15))
        daemon.kill()
        daemon.spawn()
    replies = [await one for one in claiming]
    [(holder, held)] = [
        (caller, reply.body["claim"])
        for caller, reply in zip(callers, replies, strict=True)
        if reply.status == 200
    ]
    assert held["holder"]["conversation_id"] == holder.name
    for reply in replies:
        if reply.status != 200:
            assert (reply.status, reply.body["code"]) == (409, "claim_conflict")
            assert reply.body["holder"] == held["holder"]
            assert reply.body["fence"] == held["fence"]
    assert await the_claim(holder) == held
    return holder, held["fence"]


async def claim(caller: Caller, key: str | None) -> Reply:
    return await caller.until_answered("POST", CLAIMS, {"key": KEY}, idempotency_key=key)


async def the_claim(caller: Caller) -> Json:
    [claim] = (await caller.until_answered("GET", CLAIMS)).body["claims"]
    return dict(claim)


async def cannot_act_on(holder: Caller, fence: int, former: Caller, old_fence: int) -> None:
    late = [
        await former.until_answered("DELETE", CLAIMS, key=KEY, fence=old_fence),
        await former.until_answered("POST", CLAIMS, {"key": KEY, "fence": old_fence}),
    ]
    if former is not holder:
        late.append(await former.until_answered("DELETE", CLAIMS, key=KEY))
    for reply in late:
        assert (reply.status, reply.body["code"]) == (409, "not_claim_holder")
    assert (await the_claim(holder))["fence"] == fence


async def release(holder: Caller, fence: int) -> None:
    reply = await holder.until_answered("DELETE", CLAIMS, key=KEY, fence=fence)
    assert (reply.status, reply.body["released"]) == (200, True)
