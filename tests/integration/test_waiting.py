"""The long poll: nothing is slept through, one's own never wakes, leaving and closing end it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple

import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.live.waiters import RoomWaiters, Waiter
from tests.integration.daemons import Json, Party, Reply, Running, bodies, running
from tests.integration.stepping import Stepping
from tests.model.checker import Waited, check_following
from tests.polling import until

TIMEOUT_S = 300


async def parked(daemon: Running, number: int = 1) -> None:
    await until(lambda: daemon.services.hub.statistics().waiting == number)


def waiters(daemon: Running) -> set[Waiter]:
    return daemon.services.hub._waiters


# --- at every point at which a wait waits ---


class Scene(NamedTuple):
    """Ada is to wait after a number; Bob holds the claim, and the question is number 3.

    The claim is the room's last event. `before` lies before it, so that the wait has to look into
    the store for what it is not woken by.
    """

    daemon: Running
    ada: Party
    bob: Party
    head: int

    @property
    def before(self) -> int:
        return self.head - 1

    def call(self, path: str, **query: Any) -> Coroutine[Any, Any, Reply]:
        return self.ada.call("GET", path, timeout_s=TIMEOUT_S, **query)

    def call_many(self, *wake_on: str) -> Coroutine[Any, Any, Reply]:
        body = {"cursors": {"plan": self.before}, "wake_on": [*wake_on], "timeout_s": TIMEOUT_S}
        return self.ada.call("POST", "/wait", body)

    async def answer_and_release(self) -> None:
        """What all of these waits wait for, in one batch."""
        reply = {"messages": [{"kind": "answer", "body": "because", "reply_to": 3}]}
        await asyncio.gather(
            self.bob.ok("POST", "/rooms/plan/messages", reply),
            self.bob.ok("DELETE", "/rooms/plan/claims", key="k"),
        )

    async def leave(self) -> None:
        await self.ada.leave("plan")

    async def close(self) -> None:
        self.daemon.services.hub.close()


WAITS: dict[str, Callable[[Scene], Coroutine[Any, Any, Reply]]] = {
    "from the head": lambda scene: scene.call("/rooms/@active/wait", after_seq=scene.head),
    "from a number": lambda scene: scene.call("/rooms/plan/wait", after_seq=scene.before),
    "for an answer": lambda scene: scene.call("/rooms/plan/wait", wake_on="answer:3"),
    "for a claim to be free": lambda scene: scene.call("/rooms/plan/wait", wake_on="free:k"),
    "on many rooms": lambda scene: scene.call_many("message", "answer:plan/3"),
}


async def at_every_point(
    arguments: dict[str, Any],
    start: Callable[[Scene], Coroutine[Any, Any, Reply]],
    act: Callable[[Scene], Awaitable[object]],
    check: Callable[[Scene, Reply], Awaitable[None]],
) -> int:
    """Let `act` happen at each point in turn, always in a daemon that has loaded nothing yet.

    How many points there are.
    """
    async with running(arguments) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        await ada.say("plan", "why?", kind="question")
        head = await prepared(ada, bob)
    for point in range(1, 100):
        async with running(arguments) as daemon:
            scene = Scene(daemon, daemon.party("ada"), daemon.party("bob"), head)
            stepping = Stepping(
                start(scene),
                point,
                lambda scene=scene: act(scene),  # type: ignore[misc]
                lambda future, daemon=daemon: any(  # type: ignore[misc]
                    waiter._future is future for waiter in waiters(daemon)
                ),
            )
            await check(scene, await stepping)
            assert daemon.services.hub.statistics() == (0, 0)
            if not stepping.reached:
                return point - 1
            head = await prepared(scene.ada, scene.bob)
    raise AssertionError("it never ends")


async def prepared(ada: Party, bob: Party) -> int:
    """The head of the room, once everything is as a Scene has it; Ada's cursor is before it."""
    await ada.join("plan")
    await bob.ok("DELETE", "/rooms/plan/claims", key="k")
    await bob.claim("plan", "k", lease_s=3600)
    head: int = (await ada.ok("GET", "/rooms/plan"))["room"]["latest_seq"]
    await ada.ok("POST", "/cursor", {"cursors": {"plan": head - 1}})
    return head


@pytest.mark.parametrize("start", WAITS.values(), ids=WAITS.keys())
async def test_what_is_published_at_any_point_of_a_wait_is_not_slept_through(
    connect_arguments: dict[str, Any], start: Callable[[Scene], Coroutine[Any, Any, Reply]]
) -> None:
    async def check(scene: Scene, reply: Reply) -> None:
        assert (reply.status, reply.body["reason"]) == (200, "event")
        first = reply.body["rooms"]["plan"] if "rooms" in reply.body else reply.body
        # A second act, at a point after the wake-up, may come too late for this answer.
        after_seq = first["next_after_seq"]
        rest = await scene.ada.wait("plan", after_seq, timeout_s=0)
        log = await scene.ada.events("plan")
        began = scene.head if start is WAITS["from the head"] else scene.before
        check_following(log, [Waited(began, first), Waited(after_seq, rest)], "ada")
        assert rest["latest_seq"] == len(log)

    points = await at_every_point(connect_arguments, start, Scene.answer_and_release, check)
    assert points > 2


async def test_leaving_at_any_point_of_a_wait_ends_it(connect_arguments: dict[str, Any]) -> None:
    async def check(scene: Scene, reply: Reply) -> None:
        assert (reply.status, reply.body["code"]) == (409, "active_membership_not_found")
        assert reply.body["room"] == "plan"

    await at_every_point(connect_arguments, WAITS["on many rooms"], Scene.leave, check)


async def test_closing_at_any_point_of_a_wait_ends_it(connect_arguments: dict[str, Any]) -> None:
    async def check(scene: Scene, reply: Reply) -> None:
        assert (reply.status, reply.body["reason"]) == (200, "closing")
        assert [event["type"] for event in reply.body.get("events", [])] in ([], ["claim"])

    await at_every_point(connect_arguments, WAITS["from a number"], Scene.close, check)


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

    def wake_at_the_deadline(room: RoomWaiters, events: Any) -> None:
        if first == "the time is up":
            waiter.expire()
        wake(room, events)
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
    monkeypatch.setattr(daemon.services.hub, "_max_waiters", 1)
    waiting = asyncio.create_task(ada.wait("plan", 2))
    await parked(daemon)
    refused = await bob.refused("too_many_waiters", "GET", "/rooms/plan/wait")
    assert refused["retry_after_s"] >= 1
    assert (await bob.wait("plan", 2, timeout_s=0))["reason"] == "timeout"
    await bob.say("plan")
    await waiting
