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


async def test_what_a_killed_daemon_acknowledged_is_at_the_other(daemons: list[Daemon]) -> None:
    here, there = daemons
    acknowledged: list[str] = []
    async with (
        AsyncClient("ada", url=here.url, patience_s=0.5) as ada,
        AsyncClient("bob", url=there.url) as bob,
    ):
        room = await ada.create_room("plan")
        shown: list[str] = []
        ended = asyncio.Event()
        joined = await bob.join("plan")

        async def follow() -> None:
            async for event in joined.follow(wake_on=("message", "expiry")):
                match event:
                    case Message():
                        shown.append(event.body)
                    case StatusEvent(reason="expired"):
                        ended.set()

        async def talk() -> None:
            while True:
                body = f"{len(acknowledged)}"
                await room.post(body, kind="decision")
                acknowledged.append(body)

        following = asyncio.create_task(follow())
        await room.set_status("about to go", expires_in_s=3)
        talking = asyncio.create_task(talk())
        await until(lambda: len(acknowledged) > 20)
        await asyncio.to_thread(here.end, signal.SIGKILL)
        await asyncio.gather(talking, return_exceptions=True)
        async with AsyncClient("ada", url=there.url) as moved:
            await moved.room("plan").post("the last", kind="decision")
        # The status of the killed daemon's own ends, too, and once.
        await ended.wait()
        await until(lambda: "the last" in shown)
        following.cancel()
        assert shown[:20] == acknowledged[:20]
        assert set(acknowledged) <= set(shown)
        assert len(set(shown)) == len(shown)
