"""Out of descriptors, or of space: who is refused may come back, and nothing is restarted."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.daemon_processes import DaemonProcess
from tests.faults.processes import open_descriptors, sessions
from tests.faults.scarcity import fill_up, mount, none_free, small_disk, tools_are_served
from tests.faults.strangers import say, two_in_a_room
from tests.http_callers import Caller, Reply
from tests.polling import until

ROOM: Final = "/rooms/plan"
# A new private server takes 40 MiB; the rest is what the daemon keeps free, and a little.
DISK: Final = "120m"
LARGER_DISK: Final = "300m"


class TestDescriptors:
    @pytest.fixture
    async def daemon(self, state_dir: Path) -> AsyncIterator[DaemonProcess]:
        """Starts with few descriptors, as a login shell or a container may give it."""
        daemon = DaemonProcess(state_dir, descriptors=256)
        try:
            await daemon.start()
            yield daemon
        finally:
            await daemon.discard()

    async def test_a_low_soft_limit_limits_nobody(self, daemon: DaemonProcess) -> None:
        ann, _ = await two_in_a_room(daemon)
        parked = [daemon.caller("bob") for _ in range(400)]
        path = f"{ROOM}/wait"
        waits = [asyncio.create_task(one.call("GET", path, after_seq=2)) for one in parked]
        await until(lambda: open_descriptors(daemon.pid) > len(parked))
        assert (await say(ann, "wake up")).status == 201
        assert {(await wait).body["reason"] for wait in waits} == {"event"}

    async def test_when_all_are_taken_those_who_are_in_go_on(self, daemon: DaemonProcess) -> None:
        ann, bob = await two_in_a_room(daemon)
        await until(lambda: tools_are_served(daemon))
        wait = asyncio.create_task(bob.call("GET", f"{ROOM}/wait", after_seq=2, timeout_s=60))
        async with none_free(daemon):
            assert (await say(ann, "as before")).status == 201
            assert (await wait).body["woken_by"] == [3]
            # There is no descriptor for another session, but that of the one that is lost.
            os.kill((await sessions(daemon))["coordroomsd writer"], signal.SIGTERM)
            assert (await ann.until_answered("GET", f"{ROOM}/messages")).status == 200
        reply = await ann.until_answered("POST", f"{ROOM}/leave")
        assert reply.status == 200
        assert (await daemon.caller("cleo").call("GET", "/rooms")).status == 200


class TestDisk:
    @pytest.fixture
    def disk(self, state_dir: Path) -> Iterator[Path]:
        """A small disk of its own for the state."""
        with small_disk(state_dir / "state", DISK) as path:
            yield path

    @pytest.fixture
    async def daemon(self, disk: Path, state_dir: Path) -> AsyncIterator[DaemonProcess]:
        """A daemon with that disk, not started."""
        daemon = DaemonProcess(state_dir)
        yield daemon
        await daemon.discard()

    async def test_writes_are_refused_while_it_is_full(
        self, disk: Path, daemon: DaemonProcess
    ) -> None:
        await daemon.start()
        ann, bob = await two_in_a_room(daemon)
        last = await self.fill(ann)
        assert (last.status, last.body["code"]) == (503, "store_unavailable")
        assert last.headers["retry-after"] == "1"
        # Others fill what is left.
        fill_up(disk / "others")
        assert (await say(ann, "no")).status == 503
        history = await bob.call("GET", f"{ROOM}/messages", limit=1000)
        assert history.status == 200
        stored = history.body["latest_seq"]
        wait = asyncio.create_task(bob.call("GET", f"{ROOM}/wait", after_seq=stored))
        (disk / "others").unlink()
        assert mount(disk, f"remount,size={LARGER_DISK}")
        said = await say(ann, "there is space again")
        assert said.status == 201
        assert said.body["latest_seq"] == stored + 1
        assert (await wait).body["woken_by"] == [stored + 1]
        assert await daemon.end() == 0

    async def test_a_start_on_a_full_one_says_so_and_leaves_nothing(
        self, disk: Path, daemon: DaemonProcess
    ) -> None:
        await daemon.start()
        assert await daemon.end() == 0
        before = names(disk)
        fill_up(disk / "others")
        daemon.spawn()
        assert await daemon.exit_code() == 1
        assert "No space left on device. Free some space there" in daemon.read_log()
        (disk / "others").unlink()
        assert names(disk) == before
        await daemon.start()
        assert await daemon.end() == 0

    async def fill(self, caller: Caller) -> Reply:
        """Write until that is refused; the refusal."""
        while (reply := await say(caller, os.urandom(30_000).hex())).status == 201:
            pass
        return reply


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}
