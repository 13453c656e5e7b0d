"""Idempotency keys: however often a call comes, it happens once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from tests.integration.daemons import Party, Reply, Running, bodies, running


def send(party: Party, body: str, key: str = "one") -> Awaitable[Reply]:
    message = {"messages": [{"kind": "decision", "body": body}]}
    return party.call("POST", "/rooms/plan/messages", message, idempotency_key=key)


async def test_a_hundred_sends_under_one_key_are_one_message(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    replies = await asyncio.gather(*(send(ada, "once") for _ in range(100)))
    assert {reply.status for reply in replies} == {201}
    assert all(reply.body == replies[0].body for reply in replies)
    assert [reply.replayed for reply in replies].count(False) == 1
    assert bodies(await ada.events("plan")) == ["once"]
    assert await daemon.database.reads.fetchval("SELECT count(*) FROM idempotency") == 1


async def test_a_key_is_replayed_after_a_restart(connect_arguments: dict[str, Any]) -> None:
    async with running(connect_arguments) as daemon:
        [ada] = await daemon.room("plan", "ada")
        first = await send(ada, "once")
    async with running(connect_arguments) as daemon:
        ada = daemon.party("ada")
        again = await send(ada, "once")
        assert (again.status, again.body, again.replayed) == (201, first.body, True)
        other = await send(ada, "else")
        assert other.body["code"] == "idempotency_key_reused"
        assert bodies(await ada.events("plan")) == ["once"]


async def test_other_content_beside_it_in_one_batch_is_refused(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    first, other, again = await asyncio.gather(
        send(ada, "once"), send(ada, "else"), send(ada, "once")
    )
    assert first.status == 201
    assert (other.status, other.body["code"]) == (422, "idempotency_key_reused")
    assert (again.body, again.replayed) == (first.body, True)


async def test_a_refusal_is_not_kept(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    await ada.leave("plan")
    refused = await send(ada, "once")
    assert refused.body["code"] == "active_membership_not_found"
    await ada.join("plan")
    assert (await send(ada, "once")).status == 201


async def test_a_participant_s_first_call_may_have_a_key(daemon: Running) -> None:
    """Who it is becomes known in the same batch as the key."""
    ada = daemon.party("ada")
    replies = await asyncio.gather(
        *(ada.call("POST", "/rooms", {"name": "plan"}, idempotency_key="first") for _ in range(5))
    )
    assert {reply.status for reply in replies} == {201}
    assert [reply.replayed for reply in replies] == [False] + [True] * 4
    assert await ada.log("plan") == [("member", "joined")]
