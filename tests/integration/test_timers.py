"""What runs out: once, at its time, whoever looks, and whatever happens in the same moment."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from coordroomsd import chores
from coordroomsd.live import timers as timers_module
from tests.clocks import FakeClock
from tests.integration.daemons import Json, Party, Running, running
from tests.integration.full_disks import fill_up, make_room
from tests.model.checker import check_log
from tests.polling import until


@pytest.fixture(autouse=True)
def watchful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A moved clock is noticed at the next look; a second of it would be waited for."""
    monkeypatch.setattr(timers_module, "_LONGEST_SLEEP_S", 0.01)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def timed(connect_arguments: dict[str, Any], clock: FakeClock) -> AsyncIterator[Running]:
    """A daemon whose time passes when the test says so."""
    async with running(connect_arguments, clock=clock) as daemon:
        yield daemon


def expired(events: list[Json]) -> Counter[tuple[str, str]]:
    """How often each status and each key has expired, by type and text or key."""
    return Counter(
        (event["type"], event.get("status") or event["key"])
        for event in events
        if event["reason"] == "expired"
    )


async def until_expired(party: Party, number: int) -> list[Json]:
    """The log, once so many have expired."""
    log: list[Json] = []

    async def enough() -> bool:
        log[:] = await party.events("plan")
        return expired(log).total() >= number

    await until(enough)
    return log


async def test_a_thousand_that_end_in_one_second_expire_once_each(
    timed: Running, clock: FakeClock
) -> None:
    names = [f"agent-{number}" for number in range(500)]
    parties = await timed.room("plan", *names)
    await asyncio.gather(
        *(party.set_status("plan", f"status of {party.name}", 60) for party in parties),
        *(party.claim("plan", f"claim of {party.name}", lease_s=60) for party in parties),
    )
    clock.pass_seconds(60)
    log = await until_expired(parties[0], 1000)
    assert set(expired(log).values()) == {1}
    assert len(expired(log)) == 1000
    check_log(log)
    rows = await parties[0].ok("GET", "/rooms/plan")
    assert rows["claims"] == []
    assert all(row["status"] is None for row in rows["members"])


async def test_deadlines_of_many_rooms_are_kept(timed: Running, clock: FakeClock) -> None:
    for number in range(50):
        [party] = await timed.room(f"room {number}", f"agent-{number}")
        await party.claim(f"room {number}", "k", lease_s=60 + number)
    clock.pass_seconds(60 + 24)
    readers = [timed.party(f"agent-{number}") for number in range(50)]
    await until(lambda: len(timed.services.rooms) >= 50)

    async def has_expired(number: int) -> bool:
        return ("claim", "expired") in await readers[number].log(f"room {number}")

    for number in range(25):
        await until(lambda number=number: has_expired(number))  # type: ignore[misc]
    assert not any([await has_expired(number) for number in range(25, 50)])


async def test_an_end_wakes_who_asked_for_it_with_nobody_looking(
    timed: Running, clock: FakeClock
) -> None:
    ada, bob = await timed.room("plan", "ada", "bob")
    await ada.set_status("plan", "reading", 60)
    await ada.claim("plan", "k", lease_s=60)
    waits = {
        wake_on: asyncio.create_task(party.wait("plan", 4, wake_on=wake_on))
        for wake_on, party in (("expiry", ada), ("status", bob), ("claim", bob), ("free:k", ada))
    }
    await until(lambda: timed.services.hub.statistics().waiting == 4)
    clock.pass_seconds(60)
    answers = {wake_on: await wait for wake_on, wait in waits.items()}
    assert {answer["reason"] for answer in answers.values()} == {"event"}
    for answer in answers.values():
        assert [event["reason"] for event in answer["events"]] == ["expired", "expired"]
        assert all(event["author"] is None for event in answer["events"])
        assert {event["participant"]["name"] for event in answer["events"]} == {"ada"}


@pytest.mark.parametrize("turn", range(8))
async def test_set_clear_and_expire_in_one_moment_have_one_outcome(
    timed: Running, clock: FakeClock, turn: int
) -> None:
    """At the instant of the end everything has ended; just before it nothing has."""
    ada, bob = await timed.room("plan", "ada", "bob")
    await ada.set_status("plan", "reading", 60)
    await ada.claim("plan", "k", lease_s=60)
    clock.pass_seconds(60 if turn % 2 else 59.999)
    racing: list[Callable[[], Awaitable[object]]] = [
        lambda: ada.set_status("plan", None),
        lambda: ada.set_status("plan", "writing", 60),
        lambda: ada.ok("DELETE", "/rooms/plan/claims", key="k"),
        lambda: bob.call("POST", "/rooms/plan/claims", {"key": "k", "lease_s": 60}),
        lambda: ada.leave("plan"),
    ]
    order = racing[turn % 5 :] + racing[: turn % 5]
    await asyncio.gather(*(call() for call in order), return_exceptions=True)
    clock.pass_seconds(0.001)
    await bob.say("plan", "afterwards")
    log = await bob.events("plan")
    check_log(log)
    first = [e["reason"] for e in log if e.get("status") == "reading" and e["reason"] != "set"]
    ended = [e["reason"] for e in log if e["type"] == "claim" and e["fence"] == 4]
    if turn % 2:
        assert first == ["expired"]
        assert ended == ["claimed", "expired"]
    else:
        assert first in (["cleared"], ["left"], [])
        assert ended[1:] in (["released"], ["left"])


async def test_a_status_that_is_renewed_in_time_does_not_expire(
    timed: Running, clock: FakeClock
) -> None:
    ada, bob = await timed.room("plan", "ada", "bob")
    await ada.set_status("plan", "reading", 60)
    for _ in range(5):
        clock.pass_seconds(59)
        assert not (await ada.set_status("plan", "reading", 60))["changed"]
    await ada.claim("plan", "other", lease_s=60)
    clock.pass_seconds(60)
    log = await until_expired(bob, 2)
    assert expired(log) == {("status", "reading"): 1, ("claim", "other"): 1}


async def test_what_ran_out_during_downtime_expires_once_at_the_start(
    connect_arguments: dict[str, Any], clock: FakeClock
) -> None:
    async with running(connect_arguments, clock=clock) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        await ada.set_status("plan", "reading", 60)
        await ada.claim("plan", "k", lease_s=60)
        await bob.claim("plan", "held", lease_s=7200)
    clock.pass_seconds(3600)
    for _ in range(2):
        async with running(connect_arguments, clock=clock) as daemon:
            bob = daemon.party("bob")
            log = await until_expired(bob, 2)
            assert expired(log) == {("status", "reading"): 1, ("claim", "k"): 1}
            assert [
                claim["key"] for claim in (await bob.ok("GET", "/rooms/plan/claims"))["claims"]
            ] == ["held"]
            assert len(log) == 7


async def test_a_deadline_beyond_the_horizon_is_armed_after_a_restart(
    connect_arguments: dict[str, Any], clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start only what runs out soon is armed; the rest is looked for in time."""
    monkeypatch.setattr(chores, "LOOK_FOR_DEADLINES_EVERY_S", 0.01)
    async with running(connect_arguments, clock=clock) as daemon:
        [ada] = await daemon.room("plan", "ada")
        await ada.claim("plan", "k", lease_s=3600)
    async with running(connect_arguments, clock=clock) as daemon:
        clock.pass_seconds(3600)
        await until_expired(daemon.party("ada"), 1)


async def test_a_claim_is_free_at_whatever_call_comes_first(
    timed: Running, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the daemon's own look comes late."""
    monkeypatch.setattr(timers_module, "_LONGEST_SLEEP_S", 3600)
    ada, bob = await timed.room("plan", "ada", "bob")
    await ada.claim("plan", "k", lease_s=60)
    conflict = await bob.refused("claim_conflict", "POST", "/rooms/plan/claims", {"key": "k"})
    assert conflict["fence"] == 3
    clock.pass_seconds(60)
    assert (await bob.ok("GET", "/rooms/plan/claims"))["claims"] == []
    waited = await bob.wait("plan", 3, wake_on="free:k")
    assert waited["reason"] == "event"
    taken = await bob.claim("plan", "k", lease_s=60)
    assert taken["fence"] == 5
    assert (await bob.log("plan"))[2:] == [
        ("claim", "claimed"),
        ("claim", "expired"),
        ("claim", "claimed"),
    ]


async def test_an_end_that_cannot_be_stored_is_tried_again(
    timed: Running,
    clock: FakeClock,
    connect_arguments: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    [ada] = await timed.room("plan", "ada")
    await ada.claim("plan", "k", lease_s=60)
    await fill_up(connect_arguments)
    clock.pass_seconds(60)
    await until(lambda: "could not end all that has run out" in caplog.text)
    await make_room(connect_arguments)
    clock.pass_seconds(1)
    log = await until_expired(ada, 1)
    assert expired(log) == {("claim", "k"): 1}
