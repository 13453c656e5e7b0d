"""Cursors and what was shown: written late, and never lost by an orderly end."""

from __future__ import annotations

from typing import Any

from tests.integration.daemons import Running, running
from tests.polling import until


async def test_they_are_stored_at_the_end(connect_arguments: dict[str, Any]) -> None:
    async with running(connect_arguments) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        await ada.say("plan", "1", "2")
        await bob.events("plan")
        await bob.wait("plan", 3, timeout_s=0)
        before = (await bob.ok("GET", "/rooms/plan/members"))["members"]
    async with running(connect_arguments) as daemon:
        after = (await daemon.operator.ok("GET", "/rooms/plan/members"))["members"]
        assert after == before
        assert [(row["cursor"], row["last_seen_seq"]) for row in after] == [(1, 1), (3, 4)]


async def test_they_are_stored_within_a_second_without_a_write(
    daemon: Running,
) -> None:
    _, bob = await daemon.room("plan", "ada", "bob")
    await bob.events("plan")
    await until(lambda: not daemon.services.positions)
    stored = "SELECT max(last_seen_seq) FROM memberships"
    assert await daemon.database.reads.fetchval(stored) == 2


async def test_a_confirmed_cursor_is_stored_before_the_answer(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    [seq] = await ada.say("plan")
    await bob.ok("POST", "/cursor", {"cursors": {"plan": seq}})
    assert await daemon.database.reads.fetchval("SELECT max(cursor) FROM memberships") == seq


async def test_a_return_keeps_the_position_that_was_not_yet_stored(
    connect_arguments: dict[str, Any],
) -> None:
    async with running(connect_arguments) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        await ada.say("plan", "1", "2")
        await bob.events("plan")
        await bob.leave("plan")
        await bob.join("plan")
    async with running(connect_arguments) as daemon:
        rows = (await daemon.operator.ok("GET", "/rooms/plan/members"))["members"]
        assert [(row["cursor"], row["last_seen_seq"]) for row in rows] == [(1, 1), (2, 4)]
