"""Something happens at each point at which a wait waits: nothing is slept through."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple

import pytest

from tests.integration.daemons import Party, Reply, Running, running
from tests.integration.stepping import Stepping
from tests.model.checker import Waited, check_following

TIMEOUT_S = 300


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
                    waiter._future is future for waiter in daemon.services.hub._waiters
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
