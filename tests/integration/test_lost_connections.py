"""The write session is lost before, during and after a commit: a question, and not an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from coordroomsd.journal import patience
from coordroomsd.settings import Limits
from coordroomsd.store.database import Database
from coordroomsd.store.errors import OwnershipLostError
from tests.integration.daemons import Json, Party, Running, bodies, message, running
from tests.integration.proxies import Cut, Proxy, proxied
from tests.model.checker import check_acknowledged, check_log, check_sent
from tests.polling import until
from tests.postgres_servers import connect

END_WRITERS = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE application_name = 'coordroomsd writer' AND datname = current_database()
"""


@pytest.fixture
async def proxy(connect_arguments: dict[str, Any]) -> AsyncIterator[Proxy]:
    async with proxied(connect_arguments) as proxy:
        yield proxy


async def send_until_answered(party: Party, body: str, key: str | None = None) -> Json:
    """As a client does: the same call under the same key until there is an answer."""
    key = key or uuid4().hex
    while not party.daemon.failed.done():
        reply = await party.call("POST", "/rooms/plan/messages", message(body), idempotency_key=key)
        if reply.status != 503:
            assert reply.status == 201, reply.body
            return reply.body
    raise AssertionError("the daemon has failed")


@pytest.mark.parametrize("cut", list(Cut))
async def test_a_caller_learns_what_became_of_its_call(proxy: Proxy, cut: Cut) -> None:
    async with running(proxy.arguments) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        parked = asyncio.create_task(bob.wait("plan", 2))
        proxy.cut_at("the needle", cut)
        assert await ada.say("plan", "the needle") == [3]
        assert proxy.cuts == 1
        assert (await parked)["woken_by"] == [3]
        assert await ada.say("plan", "and on") == [4]
        assert bodies(await ada.events("plan")) == ["the needle", "and on"]


@pytest.mark.parametrize("cut", list(Cut))
async def test_a_whole_batch_is_stored_once(proxy: Proxy, cut: Cut) -> None:
    async with running(proxy.arguments) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        proxy.cut_at("the needle", cut)
        posting = [
            asyncio.create_task(ada.say("plan", f"the needle {number}")) for number in range(20)
        ]
        claim, status = await asyncio.gather(
            bob.claim("plan", "k"), bob.set_status("plan", "reading")
        )
        await asyncio.gather(*posting)
        assert proxy.cuts == 1
        assert (claim["fence"], status["latest_seq"]) == (23, 24)
        assert len(bodies(await ada.events("plan"))) == 20


@pytest.mark.parametrize("cut", list(Cut))
async def test_what_is_stored_again_costs_once(proxy: Proxy, cut: Cut) -> None:
    limits = Limits(message_burst=2, message_per_s=0.001)
    async with running(proxy.arguments, limits=limits) as daemon:
        [ada] = await daemon.room("plan", "ada")
        proxy.cut_at("the needle", cut)
        await ada.say("plan", "the needle")
        await ada.say("plan", "the second")
        await ada.refused("rate_limited", "POST", "/rooms/plan/messages", message("x"))


async def test_a_retry_after_giving_up_makes_no_second_message(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PATIENCE_S", 0.2)
    async with running(proxy.arguments) as daemon:
        [ada] = await daemon.room("plan", "ada")
        proxy.cut_at("the needle", Cut.AFTER_THE_COMMIT)
        daemon.database.writer.add_termination_listener(lambda _: proxy.refuse())
        sent = message("the needle")
        first = await ada.call("POST", "/rooms/plan/messages", sent, idempotency_key="one")
        assert (first.status, first.body["code"]) == (503, "store_unavailable")
        assert first.body["retry_after_s"] == 1
        proxy.admit()
        await send_until_answered(ada, "the needle", key="one")
        assert bodies(await ada.events("plan")) == ["the needle"]


async def test_writers_come_through_a_server_that_ends_sessions(
    daemon: Running, connect_arguments: dict[str, Any]
) -> None:
    parties = await daemon.room("plan", *(f"agent-{number}" for number in range(16)))
    sent = {party.name: [f"{party.name}: {turn}" for turn in range(40)] for party in parties}

    answers: list[Json] = []

    async def talk(party: Party) -> None:
        for body in sent[party.name]:
            answer = await send_until_answered(party, body)
            answers.append(answer)

    talking = asyncio.gather(*map(talk, parties))
    keeper = await connect(connect_arguments)
    for turn in range(1, 6):
        await until(lambda turn=turn: len(answers) > 100 * turn)  # type: ignore[misc]
        assert await keeper.fetchval(END_WRITERS) == 1
    await keeper.close()
    await talking
    log = await parties[0].events("plan")
    tried = [body for bodies_of_one in sent.values() for body in bodies_of_one]
    check_log(log)
    check_acknowledged(log, answers)
    check_sent(log, tried, tried)


async def test_who_lost_the_database_to_another_ends(
    proxy: Proxy, connect_arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PATIENCE_S", 0.2)
    async with running(proxy.arguments, may_fail=True) as daemon:
        [ada] = await daemon.room("plan", "ada")
        proxy.refuse()
        other = await Database.open(connect_arguments, owner="another daemon")
        proxy.admit()
        await asyncio.gather(
            *(ada.call("POST", "/rooms/plan/messages", message("x")) for _ in range(3))
        )
        with pytest.raises(OwnershipLostError, match="another daemon"):
            await daemon.daemon.failed
        await other.close()
        assert await daemon.database.reads.fetchval("SELECT max(seq) FROM events") == 1


async def test_whose_database_has_lost_what_was_acknowledged_ends(
    proxy: Proxy, connect_arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after the promotion of a standby that was behind: nobody goes on with void numbers."""
    monkeypatch.setattr(patience, "PATIENCE_S", 0.2)
    async with running(proxy.arguments, may_fail=True) as daemon:
        [ada] = await daemon.room("plan", "ada")
        before = daemon.services.generation
        await ada.say("plan", "acknowledged")
        proxy.refuse()
        keeper = await connect(connect_arguments)
        await keeper.execute("DELETE FROM events WHERE seq = 2")
        await keeper.execute("UPDATE rooms SET latest_seq = 1")
        await keeper.execute("UPDATE journal SET batch = batch - 1")
        await keeper.close()
        proxy.admit()
        await ada.call("POST", "/rooms/plan/messages", message("x"))
        with pytest.raises(OwnershipLostError, match="has lost what was committed"):
            await daemon.daemon.failed
    async with running(connect_arguments) as daemon:
        ada = daemon.party("ada")
        await ada.refused("generation_changed", "GET", "/rooms/plan/wait", generation=before)
        assert await ada.say("plan", "again") == [2]
