"""Keys that SIGHUP puts into force, each at the place where it is enforced."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from coordroomsd.config import Config
from coordroomsd.http.bounds import Bounds
from coordroomsd.mcp.gateways import Gateway
from coordroomsd.server import keep_within
from coordroomsd.settings import Conversations, Limits, Retention
from coordroomsd.store.sessions import ConnectArguments
from tests.integration.daemons import NO_LIMITS, Running, config, running
from tests.polling import until


@pytest.fixture
async def daemon(connect_arguments: ConnectArguments) -> AsyncIterator[Running]:
    async with running(connect_arguments) as daemon:
        yield daemon


@pytest.mark.parametrize("key", [key for key in Limits.model_fields if Limits.is_reloaded(key)])
async def test_each_limit_reaches_what_enforces_it(daemon: Running, key: str) -> None:
    services = daemon.services
    gateway = Gateway(daemon.daemon.api, services.connections, services.refusals)
    bounds = Bounds(services.connections)

    def adopt(new: Config) -> None:
        daemon.daemon.adopt(new)
        keep_within(bounds, gateway, new.limits)

    def enforced() -> tuple[Any, ...]:
        hub, connections, readers = services.hub, services.connections, bounds.readers
        return (
            dict(services.buckets.limits),
            (hub.max_waiters, hub.max_of_one),
            (connections.most, connections.most_of_one),
            (bounds.request_within_s, readers.within_s, gateway.answer_within_s),
            (readers.most_bytes, bounds.senders.most_bytes),
        )

    adopt(config())
    before = enforced()
    adopt(with_limits(**{key: 7}))
    assert enforced() != before
    adopt(config())
    assert enforced() == before


async def test_a_bucket_that_was_spent_obeys_the_new_limit(daemon: Running) -> None:
    [ann] = await daemon.room("here", "ann")
    daemon.daemon.adopt(with_limits(message_burst=2, message_per_s=0.001))
    await ann.say("here", "a", "b")
    await ann.refused("rate_limited", "POST", "/rooms/here/messages", one_message())
    daemon.daemon.adopt(with_limits(message_burst=3, message_per_s=0.001))
    await ann.say("here", "c")
    await ann.refused("rate_limited", "POST", "/rooms/here/messages", one_message())
    daemon.daemon.adopt(config())
    await ann.say("here", "d")


async def test_whoever_is_parked_stays_under_a_lower_limit(daemon: Running) -> None:
    [ann, bob] = await daemon.room("here", "ann", "bob")
    wait = asyncio.ensure_future(bob.wait("here", 2))
    await until(lambda: daemon.services.hub.statistics().waiting == 1)
    daemon.daemon.adopt(with_limits(max_waiters=1))
    await ann.refused("too_many_waiters", "GET", "/rooms/here/wait", after_seq=2)
    [seq] = await ann.say("here", "hello")
    assert [event["seq"] for event in (await wait)["events"]] == [seq]


async def test_a_new_default_of_retention_is_swept_at_once(daemon: Running) -> None:
    [ann] = await daemon.room("here", "ann")
    await ann.say("here", *"abcdef")
    daemon.daemon.adopt(replace(config(), retention=Retention(max_events=2)))

    async def begins_later() -> bool:
        room: int = (await ann.ok("GET", "/rooms/here"))["room"]["first_seq"]
        return room == 6

    await until(begins_later)


async def test_the_pairs_that_may_talk(daemon: Running) -> None:
    [ann, *_] = await daemon.room("here", "ann", "bob")
    listed = Conversations(peer_policy="listed")
    daemon.daemon.adopt(replace(config(), conversations=listed))
    await ann.refused("forbidden", "POST", "/conversations", {"with": "bob"})
    pairs = Conversations.model_validate({"peer_policy": "listed", "peers": [["bob", "ann"]]})
    daemon.daemon.adopt(replace(config(), conversations=pairs))
    await ann.ok("POST", "/conversations", {"with": "bob"})


def with_limits(**limits: Any) -> Config:
    return config(NO_LIMITS.model_copy(update=limits))


def one_message() -> dict[str, Any]:
    return {"messages": [{"kind": "decision", "body": "one too many"}]}
