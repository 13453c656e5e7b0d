"""Daemons as processes on one configured database: one is killed, and nothing is lost."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from coordrooms import AsyncClient, Message, StatusEvent
from tests.acceptance.daemons import Daemon, running
from tests.polling import until


@pytest.fixture
async def daemons(configured_address: str) -> AsyncIterator[list[Daemon]]:
    async with AsyncExitStack() as stack:
        pair = []
        for _ in range(2):
            daemon = Daemon()
            file = daemon.state_dir / "config.toml"
            file.write_text('[cluster]\nbus = "postgres"\n')
            daemon.options = ["--config", str(file), "--database-url", configured_address]
            started = running(daemon)
            pair.append(await asyncio.to_thread(started.__enter__))
            stack.push_async_callback(asyncio.to_thread, started.__exit__, None, None, None)
        yield pair


async def test_nobody_notices_that_a_daemon_is_killed(daemons: list[Daemon]) -> None:
    """Who talks and who follows has both addresses, and is at the one that goes."""
    here, there = daemons
    urls = f"{here.url},{there.url}"
    acknowledged: list[str] = []
    shown: list[str] = []
    ended: list[int] = []
    async with (
        AsyncClient("ada", url=urls, wait_out_rate_limits=True) as ada,
        AsyncClient("bob", url=urls) as bob,
    ):
        room = await ada.create_room("plan")
        joined = await bob.join("plan")

        async def follow() -> None:
            async for event in joined.follow(wake_on=("message", "expiry")):
                match event:
                    case Message(body=body):
                        shown.append(body)
                    case StatusEvent(reason="expired", seq=seq):
                        ended.append(seq)

        async def talk() -> None:
            while not ended or len(acknowledged) < 50:
                await room.post(f"{len(acknowledged)}", kind="decision")
                acknowledged.append(f"{len(acknowledged)}")

        following = asyncio.create_task(follow())
        await room.set_status("about to go", expires_in_s=5)
        talking = asyncio.create_task(talk())
        await until(lambda: len(shown) > 20)
        await asyncio.to_thread(here.end, signal.SIGKILL)
        # Until the status that was set at the killed daemon has ended.
        await talking
        await until(lambda: len(shown) >= len(acknowledged))
        following.cancel()
        assert shown == acknowledged
        assert len(ended) == 1
