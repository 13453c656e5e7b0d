"""A bus may lose, double, reorder and delay: that costs time, and never an event."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.cluster.daemons import Network, together
from tests.integration.daemons import Party, Running


async def _told(party: Party, number: int) -> list[int]:
    """What a party is shown until it has seen so many messages of another."""
    seen: list[int] = []
    after_seq = 2
    while len(seen) < number:
        found = await party.wait("plan", after_seq, timeout_s=60)
        seen += [event["seq"] for event in found["events"]]
        after_seq = found["next_after_seq"]
    return seen


async def _talk(daemons: list[Running], number: int) -> list[int]:
    here, there = daemons[0].party("ada"), daemons[1].party("bob")
    await here.create("plan")
    await there.join("plan")
    listening = asyncio.create_task(_told(here, number))
    for _ in range(number):
        await there.say("plan")
    return await listening


@pytest.mark.parametrize("times", [0, 1, 3], ids=["lost", "sent", "tripled"])
async def test_everything_is_heard_once(connect_arguments: dict[str, Any], times: int) -> None:
    network = Network(lambda _: times)
    async with together(connect_arguments, network=network) as daemons:
        assert await _talk(daemons, 10) == list(range(3, 13))


async def test_late_and_last_first(connect_arguments: dict[str, Any]) -> None:
    network = Network()
    async with together(connect_arguments, network=network) as daemons:
        network.held = []
        assert await _talk(daemons, 5) == list(range(3, 8))
        network.let_go()
        assert await _talk_more(daemons) == [8]


async def _talk_more(daemons: list[Running]) -> list[int]:
    here, there = daemons[0].party("ada"), daemons[1].party("bob")
    listening = asyncio.create_task(here.wait("plan", 7, timeout_s=60))
    await there.say("plan")
    found = await listening
    return [event["seq"] for event in found["events"]]


async def test_a_word_of_somebody_else_is_passed_over(connect_arguments: dict[str, Any]) -> None:
    network = Network()
    async with together(connect_arguments, network=network) as daemons:
        for text in ("", "x", "1 2 3", "9 9 9.x", "9 9 99999999999.5"):
            network.deliver(text)
        assert await _talk(daemons, 2) == [3, 4]
