"""Callers that vanish at any byte of a request, and callers that do not read their answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from typing import Final

from tests.daemon_processes import DaemonProcess
from tests.faults.processes import open_descriptors, resident_bytes
from tests.faults.strangers import connected, post, request, two_in_a_room, vanishing_request
from tests.faults.traffic import whole_log
from tests.http_callers import Caller
from tests.model.checker import check_log
from tests.polling import until

VANISHING: Final = 500
# What the daemon may have opened of its own accord meanwhile.
READING_SESSIONS: Final = 4
STILL: Final = 40
MIB: Final = 1 << 20
# A page, what it was made of, and the next one that waits for it.
HELD_BY_EACH: Final = 5 * MIB


async def test_callers_that_vanish_leave_nothing_behind(
    daemon: DaemonProcess, chances: random.Random
) -> None:
    ann, bob = await two_in_a_room(daemon)
    before = open_descriptors(daemon.pid)

    async def vanish(number: int) -> None:
        async with connected(daemon.socket) as writer:
            writer.write(vanishing_request(number, chances))
            await asyncio.sleep(chances.uniform(0, 0.05))

    for start in range(0, VANISHING, 50):
        await asyncio.gather(*(vanish(start + number) for number in range(50)))
    await until(lambda: open_descriptors(daemon.pid) <= before + READING_SESSIONS)
    await until(lambda: nobody_waits(bob))
    log = await whole_log(ann, "/rooms/plan")
    check_log(log)
    bodies = [event["body"] for event in log if event["type"] == "message"]
    assert 0 < len(bodies) == len(set(bodies))
    assert "ERROR" not in daemon.read_log()


async def test_a_request_behind_one_that_is_not_answered_is_not_done(
    daemon: DaemonProcess,
) -> None:
    ann, _ = await two_in_a_room(daemon)
    reader, writer = await asyncio.open_unix_connection(daemon.socket)
    writer.write(request("wait?after_seq=2&timeout_s=0.2") + post("behind it"))
    head, _, answer = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    assert b"connection: close" in head.split(b"\r\n")
    assert json.loads(answer)["reason"] == "timeout"
    assert len(await whole_log(ann, "/rooms/plan")) == 2


async def test_callers_that_do_not_read_hold_a_bounded_part_of_memory(
    daemon: DaemonProcess, chances: random.Random
) -> None:
    ann, bob = await two_in_a_room(daemon)
    body = "".join(chances.choices("abcdefgh", k=60_000))
    batch = {"messages": [{"kind": "decision", "body": body}] * 15}
    async with contextlib.AsyncExitStack() as still:
        for asked in STILL * (
            request("events?after_seq=2", further="Accept: text/event-stream"),
            request("wait?after_seq=2&limit=1000"),
            request("wait?after_seq=2&wake_on=expiry&timeout_s=1&limit=1000"),
        ):
            (await still.enter_async_context(connected(daemon.socket))).write(asked)
        before = resident_bytes(daemon.pid)
        for _ in range(40):
            assert (await ann.call("POST", "/rooms/plan/messages", batch)).status == 201
        # 36 MiB were said, and each connection has asked for all of it.
        grown = resident_bytes(daemon.pid) - before
        print(f"{3 * STILL} callers that do not read: {grown / MIB:.0f} MiB")
        assert grown < 3 * STILL * HELD_BY_EACH
        # Whoever reads is served meanwhile.
        assert (await bob.call("GET", "/rooms/plan/messages", limit=1000)).body["has_more"]
    log = await whole_log(ann, "/rooms/plan")
    assert len(log) == 2 + 40 * 15


async def nobody_waits(caller: Caller) -> bool:
    members = (await caller.call("GET", "/rooms/plan/members")).body["members"]
    return not any(member["waiting"] for member in members)
