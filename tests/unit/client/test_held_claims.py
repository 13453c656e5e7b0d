"""`with room.claim(…)` over real sockets: what the block is told, and what is given back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

import pytest

from coordrooms import (
    AsyncClient,
    AsyncRoom,
    ClaimConflictError,
    Client,
    LeaseLostError,
    Room,
)
from tests.polling import block_until
from tests.unit.client import documents
from tests.unit.client.fake_daemons import PARK, FakeDaemon, whole

CLAIMED = whole(documents.claimed(9))
RELEASED = whole({"released": True, "latest_seq": 10})
CONFLICT = {"code": "claim_conflict", "detail": "Bob holds it.", "recovery": "Wait."}
NOT_HOLDER = whole(
    {
        "code": "not_claim_holder",
        "detail": "Bob holds it.",
        "recovery": "Stop.",
        "holder": documents.BOB,
        "expires_at": documents.AT,
    },
    409,
)

# The shortest lease that this client can ask for; it is renewed after a third of a second.
SHORT = {"lease_s": 1}


def sent(daemon: FakeDaemon) -> list[str]:
    """The requests so far: `take`, `renew 9`, `release 9`."""
    seen = []
    while not daemon.requests.empty():
        request = daemon.request()
        assert request is not None
        if request.method == "DELETE":
            seen.append(f"release {dict(request.query)['fence']}")
        elif "fence" in request.body:
            seen.append(f"renew {request.body['fence']}")
        else:
            seen.append("take")
    return seen


@pytest.fixture
async def room(fake_daemon: FakeDaemon) -> AsyncIterator[AsyncRoom]:
    async with AsyncClient("ann-1", url=fake_daemon.url) as client:
        yield client.room("r")


@pytest.fixture
def blocking_room(fake_daemon: FakeDaemon) -> Iterator[Room]:
    with Client("ann-1", url=fake_daemon.url) as client:
        yield client.room("r")


class BodyError(Exception):
    pass


async def sleep_for_ever() -> None:
    await asyncio.Event().wait()


# --- asynchronous --------------------------------------------------------------------------


async def test_a_claim_is_held_and_given_back(fake_daemon: FakeDaemon, room: AsyncRoom) -> None:
    fake_daemon.answer(CLAIMED, RELEASED)
    async with room.claim("the-draft") as lease:
        assert (lease.key, lease.fence, lease.lost) == ("the-draft", 9, False)
        lease.check()
    assert sent(fake_daemon) == ["take", "release 9"]


async def test_a_claim_that_another_holds(fake_daemon: FakeDaemon, room: AsyncRoom) -> None:
    fake_daemon.answer(whole(CONFLICT, 409))
    with pytest.raises(ClaimConflictError):
        async with room.claim("the-draft"):
            pytest.fail("the block must not begin")
    assert sent(fake_daemon) == ["take"]


async def test_a_lost_claim_cancels_the_block(fake_daemon: FakeDaemon, room: AsyncRoom) -> None:
    fake_daemon.answer(CLAIMED, CLAIMED, NOT_HOLDER)
    with pytest.raises(LeaseLostError, match=r"'the-draft' \(fence 9\) was lost: Bob holds it"):
        async with room.claim("the-draft", **SHORT) as lease:
            await sleep_for_ever()
    assert lease.lost
    assert sent(fake_daemon) == ["take", "renew 9", "renew 9"]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_block_that_ends_in_spite_of_the_loss_is_told(
    fake_daemon: FakeDaemon, room: AsyncRoom
) -> None:
    fake_daemon.answer(CLAIMED, NOT_HOLDER)

    async def stubborn() -> None:
        async with room.claim("the-draft", **SHORT):
            with contextlib.suppress(asyncio.CancelledError):
                await sleep_for_ever()

    with pytest.raises(LeaseLostError):
        await stubborn()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_the_blocks_own_error_is_kept(fake_daemon: FakeDaemon, room: AsyncRoom) -> None:
    fake_daemon.answer(CLAIMED, RELEASED)
    with pytest.raises(BodyError):
        async with room.claim("the-draft"):
            raise BodyError
    assert sent(fake_daemon) == ["take", "release 9"]


async def test_the_blocks_own_error_is_kept_when_the_release_fails(
    fake_daemon: FakeDaemon, room: AsyncRoom
) -> None:
    fake_daemon.answer(CLAIMED, NOT_HOLDER)
    with pytest.raises(BodyError):
        async with room.claim("the-draft"):
            raise BodyError


async def test_a_claim_that_was_lost_unnoticed_is_told_at_the_end(
    fake_daemon: FakeDaemon, room: AsyncRoom
) -> None:
    fake_daemon.answer(CLAIMED, NOT_HOLDER)
    with pytest.raises(LeaseLostError):
        async with room.claim("the-draft"):
            pass


async def test_a_block_that_is_cancelled_gives_its_claim_back(
    fake_daemon: FakeDaemon, room: AsyncRoom
) -> None:
    fake_daemon.answer(CLAIMED, RELEASED)

    async def hold(held: asyncio.Event) -> None:
        async with room.claim("the-draft"):
            held.set()
            await sleep_for_ever()

    held = asyncio.Event()
    holder = asyncio.ensure_future(hold(held))
    await held.wait()
    holder.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holder
    assert sent(fake_daemon) == ["take", "release 9"]


async def test_taking_that_is_cancelled_leaves_no_claim(
    fake_daemon: FakeDaemon, room: AsyncRoom
) -> None:
    fake_daemon.answer(PARK, CLAIMED, RELEASED)
    taking = asyncio.ensure_future(room.claim("the-draft").__aenter__())
    first = await asyncio.to_thread(fake_daemon.request)
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking
    assert await asyncio.to_thread(fake_daemon.request) is None, "its connection is closed"
    second = fake_daemon.request()
    assert first is not None
    assert second is not None
    assert first.key == second.key
    assert sent(fake_daemon) == ["release 9"]


async def test_a_time_out_around_the_block_stays_a_time_out(
    fake_daemon: FakeDaemon, room: AsyncRoom
) -> None:
    fake_daemon.answer(CLAIMED, RELEASED)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1), room.claim("the-draft"):
            await sleep_for_ever()
    assert sent(fake_daemon) == ["take", "release 9"]


async def test_a_loss_inside_a_task_group_ends_its_tasks(
    fake_daemon: FakeDaemon, room: AsyncRoom
) -> None:
    fake_daemon.answer(CLAIMED, NOT_HOLDER)
    with pytest.raises(LeaseLostError):
        async with room.claim("the-draft", **SHORT), asyncio.TaskGroup() as tasks:
            work = tasks.create_task(sleep_for_ever())
    assert work.cancelled()


async def test_nothing_is_left_running(fake_daemon: FakeDaemon, room: AsyncRoom) -> None:
    before = asyncio.all_tasks()
    fake_daemon.answer(CLAIMED, RELEASED)
    async with room.claim("the-draft"):
        assert len(asyncio.all_tasks() - before) == 1
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


# --- blocking ------------------------------------------------------------------------------


def test_a_claim_is_held_and_given_back_by_a_thread(
    fake_daemon: FakeDaemon, blocking_room: Room
) -> None:
    fake_daemon.answer(CLAIMED, RELEASED)
    with blocking_room.claim("the-draft") as lease:
        assert (lease.fence, lease.lost) == (9, False)
    assert sent(fake_daemon) == ["take", "release 9"]


def test_a_lost_claim_is_told_to_the_thread(fake_daemon: FakeDaemon, blocking_room: Room) -> None:
    fake_daemon.answer(CLAIMED, CLAIMED, NOT_HOLDER)
    lease = blocking_room.claim("the-draft", **SHORT)
    with pytest.raises(LeaseLostError, match="was lost: Bob holds it"), lease:
        block_until(lambda: lease.lost)
    assert sent(fake_daemon) == ["take", "renew 9", "renew 9"]
    with pytest.raises(LeaseLostError):
        lease.check()


def test_the_threads_own_error_is_kept(fake_daemon: FakeDaemon, blocking_room: Room) -> None:
    fake_daemon.answer(CLAIMED, RELEASED)
    with pytest.raises(BodyError), blocking_room.claim("the-draft"):
        raise BodyError
    assert sent(fake_daemon) == ["take", "release 9"]


def test_a_claim_that_the_thread_lost_unnoticed(
    fake_daemon: FakeDaemon, blocking_room: Room
) -> None:
    fake_daemon.answer(CLAIMED, NOT_HOLDER)
    with pytest.raises(LeaseLostError), blocking_room.claim("the-draft"):
        pass
