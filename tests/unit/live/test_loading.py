from __future__ import annotations

import asyncio

import pytest

from coordroomsd.live.loading import Loading


class Store:
    """Loads when the test lets it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, asyncio.Future[int]] = {}

    async def load(self, key: str) -> int:
        self.asked.append(key)
        self.answers[key] = asyncio.get_running_loop().create_future()
        return await self.answers[key]


async def settled() -> None:
    """Every task has gone as far as it can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_everyone_waits_for_the_same_load() -> None:
    store = Store()
    loading = Loading(store.load)
    callers = [asyncio.create_task(loading.get("a")) for _ in range(10)]
    await settled()
    store.answers["a"].set_result(7)
    assert await asyncio.gather(*callers) == [7] * 10
    assert store.asked == ["a"]


async def test_keys_are_loaded_beside_each_other() -> None:
    store = Store()
    loading = Loading(store.load)
    callers = [asyncio.create_task(loading.get(key)) for key in "ab"]
    await settled()
    store.answers["b"].set_result(2)
    assert await callers[1] == 2
    store.answers["a"].set_result(1)
    assert await callers[0] == 1


async def test_what_is_loaded_is_not_kept() -> None:
    store = Store()
    loading = Loading(store.load)
    for value in (1, 2):
        caller = asyncio.create_task(loading.get("a"))
        await settled()
        store.answers["a"].set_result(value)
        assert await caller == value
    assert store.asked == ["a", "a"]


async def test_a_caller_that_goes_away_ends_nobody_else_s_load() -> None:
    store = Store()
    loading = Loading(store.load)
    first = asyncio.create_task(loading.get("a"))
    second = asyncio.create_task(loading.get("a"))
    await settled()
    first.cancel()
    await settled()
    assert first.cancelled()
    store.answers["a"].set_result(7)
    assert await second == 7


async def test_a_load_goes_on_when_all_have_gone_and_serves_the_next() -> None:
    store = Store()
    loading = Loading(store.load)
    gone = asyncio.create_task(loading.get("a"))
    await settled()
    gone.cancel()
    await settled()
    late = asyncio.create_task(loading.get("a"))
    await settled()
    store.answers["a"].set_result(7)
    assert await late == 7
    assert store.asked == ["a"]


async def test_everyone_is_told_of_a_failure_and_the_next_tries_again() -> None:
    store = Store()
    loading = Loading(store.load)
    callers = [asyncio.create_task(loading.get("a")) for _ in range(2)]
    await settled()
    store.answers["a"].set_exception(OSError("away"))
    for caller in callers:
        with pytest.raises(OSError, match="away"):
            await caller
    again = asyncio.create_task(loading.get("a"))
    await settled()
    store.answers["a"].set_result(7)
    assert await again == 7


async def test_a_failure_that_nobody_waits_for_is_no_noise(
    recwarn: pytest.WarningsRecorder,
) -> None:
    """An exception that nobody retrieves would be logged when its task is collected."""
    told: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    store = Store()
    loading = Loading(store.load)
    gone = asyncio.create_task(loading.get("a"))
    await settled()
    gone.cancel()
    await settled()
    store.answers["a"].set_exception(OSError("away"))
    await settled()
    asyncio.get_running_loop().set_exception_handler(None)
    assert told == []
