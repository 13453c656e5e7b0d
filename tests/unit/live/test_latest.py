from __future__ import annotations

import asyncio

import pytest

from coordroomsd.live.latest import Latest


class Store:
    """Reads end when the test lets them."""

    def __init__(self) -> None:
        self.reads: list[asyncio.Future[None]] = []

    async def read(self, _: str) -> None:
        self.reads.append(asyncio.get_running_loop().create_future())
        await self.reads[-1]


async def settled() -> None:
    """Every task has gone as far as it can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_who_comes_during_a_read_waits_for_the_next_one() -> None:
    store = Store()
    latest = Latest(store.read)
    first = asyncio.create_task(latest("a"))
    await settled()
    later = [asyncio.create_task(latest("a")) for _ in range(3)]
    await settled()
    assert len(store.reads) == 1
    store.reads[0].set_result(None)
    await settled()
    assert first.done()
    assert not any(task.done() for task in later)
    assert len(store.reads) == 2
    store.reads[1].set_result(None)
    await asyncio.gather(*later)


async def test_keys_do_not_wait_for_each_other() -> None:
    store = Store()
    latest = Latest(store.read)
    both = [asyncio.create_task(latest(key)) for key in "ab"]
    await settled()
    assert len(store.reads) == 2
    for read in store.reads:
        read.set_result(None)
    await asyncio.gather(*both)


async def test_a_read_that_fails_is_told_to_whoever_waited_and_no_other() -> None:
    store = Store()
    latest = Latest(store.read)
    first = asyncio.create_task(latest("a"))
    await settled()
    second = asyncio.create_task(latest("a"))
    store.reads[0].set_exception(OSError("gone"))
    with pytest.raises(OSError, match="gone"):
        await first
    await settled()
    store.reads[1].set_result(None)
    await second


async def test_a_caller_that_goes_away_ends_nobody_else_s_read() -> None:
    store = Store()
    latest = Latest(store.read)
    going, staying = (asyncio.create_task(latest("a")) for _ in range(2))
    await settled()
    going.cancel()
    store.reads[0].set_result(None)
    await staying
