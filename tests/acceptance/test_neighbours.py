"""A daemon beside another one, and in places that are taken, closed or not there."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.processes import (
    ROOM,
    Make,
    account,
    another_home,
    daemon,
    home,
    is_waiting,
    left_behind,
    make,
    two_in_a_room,
)
from tests.daemon_processes import DaemonProcess, made_state
from tests.faults.traffic import whole_log
from tests.integration.keepers import Account, ordinary_user
from tests.polling import until
from tests.postgres_servers import execute

END_SESSIONS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name LIKE 'coordroomsd %'
"""

__all__ = ["account", "daemon", "home", "made_state", "make"]


class TestTwoOfThem:
    async def test_on_one_state_directory(
        self, daemon: DaemonProcess, make: Make, home: Path
    ) -> None:
        second = make(home, "--socket", home / "second.sock")
        await self.is_refused(second, f"is in use by another coordroomsd (pid {daemon.pid})")
        assert (await daemon.caller("ann").call("GET", "/rooms")).status == 200

    async def test_while_the_first_one_makes_it(self, make: Make, home: Path) -> None:
        daemon, second = make(home), make(home, "--socket", home / "second.sock")
        daemon.spawn()
        await until((daemon.state_dir / "data.new" / "PG_VERSION").exists)
        await self.is_refused(second, f"is in use by another coordroomsd (pid {daemon.pid})")
        await daemon.ready()
        await two_in_a_room(daemon)

    async def test_on_one_socket(
        self, daemon: DaemonProcess, make: Make, home: Path, account: Account
    ) -> None:
        second = make(another_home(home, account), "--socket", daemon.socket)
        await self.is_refused(second, f"another process serves {daemon.socket}")
        assert second.no_server_runs()
        assert (await daemon.caller("ann").call("GET", "/rooms")).status == 200

    async def test_on_one_configured_database(
        self, make: Make, home: Path, account: Account, configured_address: str
    ) -> None:
        daemon = make(home, "--database-url", configured_address)
        await daemon.start()
        second = make(another_home(home, account), "--database-url", configured_address)
        await self.is_refused(second, f"pid {daemon.pid}")
        await two_in_a_room(daemon)
        assert await daemon.end() == 0
        assert not daemon.data.exists()
        assert left_behind(daemon) - {"another"} == set()
        # The first has let go.
        await second.start()
        shown = await second.caller("ann").call("GET", "/me")
        assert shown.body["active_room"]["slug"] == "plan"
        assert await second.end() == 0

    async def test_one_that_lost_its_database_to_another_ends(
        self, make: Make, home: Path, account: Account, configured_address: str
    ) -> None:
        """As after a long stop of its machine, in which the network gave its sessions up."""
        daemon = make(home, "--database-url", configured_address)
        await daemon.start()
        ann, bob = await two_in_a_room(daemon)
        wait = asyncio.create_task(bob.call("GET", f"{ROOM}/wait", after_seq=2, timeout_s=60))
        await until(lambda: is_waiting(ann))
        os.kill(daemon.pid, signal.SIGSTOP)
        await execute(configured_address, END_SESSIONS)
        second = make(another_home(home, account), "--database-url", configured_address)
        await second.start()
        os.kill(daemon.pid, signal.SIGCONT)
        message = {"messages": [{"kind": "decision", "body": "by which of them?"}]}
        writing = asyncio.create_task(ann.call("POST", f"{ROOM}/messages", message))
        assert await daemon.exit_code() == 1
        assert "another coordroomsd took the database" in daemon.read_log().splitlines()[-1]
        assert (await wait).body["reason"] == "closing"
        await asyncio.gather(writing, return_exceptions=True)
        log = await whole_log(second.caller("ann"), ROOM)
        assert [event["type"] for event in log] == ["member", "member"]

    async def test_at_the_same_moment(self, make: Make, home: Path, account: Account) -> None:
        """Two state directories and one socket: one of them serves, and the other says why not."""
        rivals = [make(home), make(another_home(home, account), "--socket", home / "s.sock")]
        for rival in rivals:
            rival.spawn()
        await until(lambda: sum(rival.is_running for rival in rivals) == 1)
        [winner] = [rival for rival in rivals if rival.is_running]
        [loser] = [rival for rival in rivals if not rival.is_running]
        assert await loser.exit_code() == 1
        assert "cannot make the socket" in loser.read_log() or "another process" in loser.read_log()
        winner.socket = home / "s.sock"
        await winner.ready()
        assert await winner.end() == 0

    async def is_refused(self, daemon: DaemonProcess, reason: str) -> None:
        daemon.spawn()
        assert await daemon.exit_code() == 1
        said = daemon.read_log().splitlines()[-1]
        assert said.startswith("coordroomsd: ")
        assert reason in said


class TestSockets:
    async def test_what_a_killed_daemon_left_is_replaced(self, daemon: DaemonProcess) -> None:
        daemon.kill()
        assert daemon.socket.exists()
        await daemon.start()
        assert (await daemon.caller("ann").call("GET", "/rooms")).status == 200
        assert await daemon.end() == 0
        assert left_behind(daemon) == set()

    async def test_a_file_in_its_place_is_left_alone(self, make: Make, home: Path) -> None:
        daemon = make(home)
        daemon.socket.write_text("somebody's notes")
        daemon.spawn()
        assert await daemon.exit_code() == 1
        assert f"{daemon.socket} is there and is no socket" in daemon.read_log()
        assert daemon.socket.read_text() == "somebody's notes"
        assert daemon.no_server_runs()

    async def test_its_directory_is_made_and_removed(self, make: Make, home: Path) -> None:
        daemon = make(home, "--socket", home / "run" / "rooms" / "s.sock")
        daemon.socket = home / "run" / "rooms" / "s.sock"
        await daemon.start()
        assert stat.S_IMODE(daemon.socket.stat().st_mode) == 0o660
        assert await daemon.end() == 0
        assert not (home / "run").exists()

    async def test_a_directory_that_cannot_be_made(self, make: Make, home: Path) -> None:
        daemon = make(home, "--socket", home / "config.toml" / "s.sock")
        daemon.spawn()
        assert await daemon.exit_code() == 1
        assert f"cannot make {home / 'config.toml'} for the socket" in daemon.read_log()
        assert daemon.no_server_runs()


class TestStateDirectories:
    @pytest.fixture
    def read_only(self, home: Path) -> Iterator[Path]:
        """A place where even root cannot write."""
        path = home / "read-only"
        path.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(path)]
        if subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("this user may not mount a disk")
        yield path
        subprocess.run(["umount", "--lazy", path], check=True)

    async def test_a_read_only_one(self, read_only: Path, make: Make, home: Path) -> None:
        for state_dir in (read_only, read_only / "below"):
            daemon = make(home, "--state-dir", state_dir)
            daemon.spawn()
            assert await daemon.exit_code() == 1
            said = daemon.read_log().splitlines()[-1]
            assert said.startswith("coordroomsd: ")
            assert str(state_dir) in said
            assert "--state-dir" in said
            assert "Traceback" not in daemon.read_log()

    @pytest.mark.parametrize("account", [ordinary_user], indirect=True)
    async def test_somebody_elses(self, make: Make, home: Path) -> None:
        other = home / "other"
        other.mkdir(mode=0o700)
        daemon = make(home, "--state-dir", other)
        daemon.spawn()
        assert await daemon.exit_code() == 1
        said = daemon.read_log().splitlines()[-1]
        assert said.startswith("coordroomsd: ")
        assert str(other) in said
