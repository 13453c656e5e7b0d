"""The long poll: one's own never wakes; time, leaving, closing and revoking end it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.live.waiters import RoomWaiters, Waiter
from tests.integration.daemons import Json, Running, bodies, running
from tests.polling import until


async def parked(daemon: Running, number: int = 1) -> None:
    await until(lambda: daemon.services.hub.statistics().waiting == number)


def waiters(daemon: Running) -> set[Waiter]:
    return daemon.services.hub._waiters


# --- what wakes and what does not ---


async def test_one_s_own_events_never_wake_and_are_passed_over(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    waiting = asyncio.create_task(
        ada.wait("plan", 2, wake_on="message,status,reaction,claim,member")
    )
    await parked(daemon)
    [own] = await ada.say("plan")
    await ada.set_status("plan", "reading")
    await ada.set_status("plan", None)
    await ada.claim("plan", "k")
    await ada.ok("PUT", f"/rooms/plan/messages/{own}/reactions/like")
    [waiter] = waiters(daemon)
    assert not waiter._future.done()
    [seq] = await bob.say("plan")
    answer = await waiting
    assert answer["woken_by"] == [seq] == [event["seq"] for event in answer["events"]]
    assert answer["next_after_seq"] == seq


async def test_one_batch_of_one_s_own_and_another_s_wakes_both(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    waiting = [asyncio.create_task(party.wait("plan", 2)) for party in (ada, bob)]
    await parked(daemon, 2)
    [mine], [yours] = await asyncio.gather(ada.say("plan"), bob.say("plan"))
    to_ada, to_bob = await asyncio.gather(*waiting)
    assert (to_ada["woken_by"], to_bob["woken_by"]) == ([yours], [mine])
    assert to_ada["next_after_seq"] == to_bob["next_after_seq"] == 4


async def test_a_wait_shows_what_did_not_wake_it_too(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    waiting = asyncio.create_task(ada.wait("plan", 2, wake_on="claim"))
    await parked(daemon)
    await bob.say("plan")
    await bob.set_status("plan", "reading")
    [waiter] = waiters(daemon)
    assert not waiter._future.done()
    await bob.claim("plan", "k")
    answer = await waiting
    assert [event["type"] for event in answer["events"]] == ["message", "status", "claim"]
    assert answer["woken_by"] == [5]


async def test_it_ends_at_once_when_something_is_there(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    seqs = await bob.say("plan", *["x"] * 12)
    answer = await ada.wait("plan", 2, limit=5)
    assert answer["woken_by"] == seqs[:10]
    assert (len(answer["events"]), answer["has_more"]) == (5, True)
    assert (answer["next_after_seq"], answer["latest_seq"]) == (seqs[4], seqs[-1])


async def test_a_short_tail_shows_the_same_as_the_store(
    connect_arguments: dict[str, Any],
) -> None:
    """After a restart the tail is empty, and the very same waits are answered from the store."""
    queries: list[Json] = [
        {"after_seq": after_seq, "limit": limit, "wake_on": wake_on, "timeout_s": 0}
        for after_seq in (0, 3, 9, 12)
        for limit in (1, 4, 1000)
        for wake_on in ("message", "status", "claim", "member", "expiry", "answer:3", "free:k")
    ]
    async with running(connect_arguments) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        await ada.say("plan", "why?", kind="question")
        await bob.set_status("plan", "reading")
        await ada.claim("plan", "k", lease_s=3600)
        await bob.ok(
            "POST",
            "/rooms/plan/messages",
            {"messages": [{"kind": "answer", "body": "because", "reply_to": 3}]},
        )
        await bob.say("plan", *"abcdef")
        await ada.say("plan")
        before = [await ada.wait("plan", **query) for query in queries]
    async with running(connect_arguments) as daemon:
        after = [await daemon.party("ada").wait("plan", **query) for query in queries]
    assert after == before


async def test_waiting_from_the_cursor_moves_nothing_and_from_a_number_proves_it(
    daemon: Running,
) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    await bob.say("plan", "1", "2")

    async def position() -> tuple[int, int]:
        rows = (await ada.ok("GET", "/rooms/plan/members"))["members"]
        return rows[0]["cursor"], rows[0]["last_seen_seq"]

    assert await position() == (1, 1)
    first = await ada.wait("plan", timeout_s=0)
    assert (bodies(first["events"]), await position()) == (["1", "2"], (1, 4))
    await ada.wait("plan", first["next_after_seq"], timeout_s=0)
    assert await position() == (4, 4)


async def test_a_number_past_something_that_was_not_shown_proves_nothing(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    await bob.say("plan", "1", "2")
    answer = await ada.wait("plan", 4, timeout_s=0)
    assert answer["events"] == []
    rows = (await ada.ok("GET", "/rooms/plan/members"))["members"]
    assert (rows[0]["cursor"], rows[0]["last_seen_seq"]) == (1, 1)
    assert len((await ada.ok("GET", "/unread"))["unread"][0]["messages"]) == 2


async def test_a_parked_member_is_shown_as_waiting(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    waiting = asyncio.create_task(ada.wait("plan", 2))
    await parked(daemon)
    rows = (await bob.ok("GET", "/rooms/plan/members"))["members"]
    assert [row["waiting"] for row in rows] == [True, False]
    await bob.say("plan")
    await waiting
    rows = (await bob.ok("GET", "/rooms/plan/members"))["members"]
    assert [row["waiting"] for row in rows] == [False, False]


# --- the time that is up ---


@pytest.mark.parametrize("first", ["the time is up", "the event is published"])
async def test_what_comes_in_the_very_moment_the_time_is_up_is_shown(
    daemon: Running, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    waiting = asyncio.create_task(ada.wait("plan", 2))
    await parked(daemon)
    [waiter] = waiters(daemon)
    wake = RoomWaiters.wake

    def wake_at_the_deadline(room: RoomWaiters, *what: Any) -> None:
        if first == "the time is up":
            waiter.expire()
        wake(room, *what)
        waiter.expire()

    monkeypatch.setattr(RoomWaiters, "wake", wake_at_the_deadline)
    [seq] = await bob.say("plan")
    answer = await waiting
    assert (answer["reason"], answer["woken_by"]) == ("event", [seq])


async def test_a_time_out_shows_what_did_not_wake(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    await bob.set_status("plan", "reading")
    answer = await ada.wait("plan", 2, timeout_s=0.05)
    assert (answer["reason"], answer["woken_by"]) == ("timeout", [])
    assert [event["type"] for event in answer["events"]] == ["status"]
    assert answer["next_after_seq"] == 3


async def test_a_time_out_of_0_is_a_look(daemon: Running) -> None:
    ada, _ = await daemon.room("plan", "ada", "bob")
    assert (await ada.wait("plan", 2, timeout_s=0))["reason"] == "timeout"


# --- going away, leaving, closing ---


async def test_waits_that_are_given_up_leave_nothing(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    await bob.claim("plan", "k")
    tasks = len(asyncio.all_tasks())
    waiting = [
        asyncio.create_task(party.wait("plan", 3, wake_on=wake_on))
        for party in (ada, bob)
        for wake_on in ("message", "claim", "free:k")
        for _ in range(100)
    ]
    await parked(daemon, len(waiting))
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    room = await daemon.services.rooms.of_slug("default", "plan")
    assert room
    assert len(room.waiters) == 0
    assert daemon.services.hub.statistics() == (0, 0)
    assert len(asyncio.all_tasks()) == tasks


async def test_leaving_one_of_many_ends_the_whole_wait(daemon: Running) -> None:
    ada, _ = await daemon.room("plan", "ada", "bob")
    opened = await ada.ok("POST", "/conversations", {"with": "bob"})
    thread = opened["conversation"]["id"]
    body = {"cursors": {"plan": 2, thread: 0}, "wake_on": ["message"]}
    waiting = asyncio.create_task(ada.refused("active_membership_not_found", "POST", "/wait", body))
    await parked(daemon)
    await ada.leave("plan")
    assert (await waiting)["room"] == "plan"
    assert daemon.services.hub.statistics() == (0, 0)


async def test_a_wait_on_many_is_woken_by_any(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    opened = await ada.ok("POST", "/conversations", {"with": "bob"})
    thread = opened["conversation"]["id"]
    body = {"cursors": {"plan": 2, thread: 0}, "wake_on": ["message"]}
    waiting = asyncio.create_task(ada.ok("POST", "/wait", body))
    await parked(daemon)
    note = {"kind": "note", "body": "psst"}
    await bob.ok("POST", f"/conversations/{thread}/messages", note, idempotency_key="one")
    answer = await waiting
    assert (answer["reason"], list(answer["rooms"])) == ("event", [thread])
    assert answer["rooms"][thread]["woken_by"] == [1]


async def test_a_revoked_credential_ends_its_waits(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    waiting = asyncio.create_task(ada.refused("unauthorized", "GET", "/rooms/plan/wait"))
    await parked(daemon)
    daemon.services.hub.revoke(ada.caller.credential, Refusal("unauthorized", "Revoked."))
    await waiting


async def test_beyond_the_limit_waits_are_refused(
    daemon: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    monkeypatch.setattr(daemon.services.hub, "max_waiters", 1)
    waiting = asyncio.create_task(ada.wait("plan", 2))
    await parked(daemon)
    refused = await bob.refused("too_many_waiters", "GET", "/rooms/plan/wait")
    assert refused["retry_after_s"] >= 1
    assert (await bob.wait("plan", 2, timeout_s=0))["reason"] == "timeout"
    await bob.say("plan")
    await waiting
