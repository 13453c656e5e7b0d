"""`coordroomsd backup` and `restore` as whoever runs a machine uses them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import asyncpg
import pytest

from tests.acceptance.processes import (
    AS_BOTH,
    ROOM,
    Make,
    account,
    another_home,
    daemon,
    home,
    left_behind,
    make,
    two_in_a_room,
)
from tests.daemon_processes import DaemonProcess, made_state
from tests.integration.keepers import Account
from tests.polling import GIVE_UP_AFTER_S, until

__all__ = ["account", "daemon", "home", "made_state", "make"]


class Keeper:
    """Who runs commands as the daemons' own user."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def spawn(
        self, command: str, daemon: DaemonProcess, *words: str | Path
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self._account.python, "-m", "coordroomsd", command, "--state-dir",
             str(daemon.state_dir), *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=daemon.state_dir.parent,
            env=self._account.environment(),
            **self._account.popen_arguments(),
        )  # fmt: skip

    def run(self, command: str, daemon: DaemonProcess, *words: str | Path, code: int = 0) -> str:
        """What it says, whose exit code must be `code`."""
        process = self.spawn(command, daemon, *words)
        out, err = process.communicate(timeout=GIVE_UP_AFTER_S)
        assert process.returncode == code, out + err
        assert "Traceback" not in err
        return err


@pytest.fixture
def keeper(account: Account) -> Keeper:
    return Keeper(account)


async def say(daemon: DaemonProcess, body: str) -> int:
    message = {"messages": [{"kind": "decision", "body": body}]}
    said = await daemon.caller("ann").call("POST", f"{ROOM}/messages", message)
    seq: int = said.body["latest_seq"]
    return seq


async def bodies(daemon: DaemonProcess) -> list[str]:
    page = await daemon.caller("ann").call("GET", f"{ROOM}/messages")
    return [message["body"] for message in page.body["messages"]]


async def generation(daemon: DaemonProcess) -> str:
    found: str = (await daemon.caller("ann").call("GET", ROOM)).body["room"]["generation"]
    return found


@AS_BOTH
async def test_from_a_running_daemon_to_another_machine(
    daemon: DaemonProcess, make: Make, home: Path, account: Account, keeper: Keeper
) -> None:
    await two_in_a_room(daemon)
    await say(daemon, "kept")
    backup = home / "rooms.backup"
    assert keeper.run("backup", daemon, backup) == "backed up 1 room with 3 events\n"
    assert daemon.is_running
    await say(daemon, "lost")

    other = make(another_home(home, account))
    told = keeper.run("restore", other, backup)
    assert told.startswith("restored 1 room with 3 events, as of 20")
    assert left_behind(other) == set()
    await other.start()
    assert await bodies(other) == ["kept"]
    assert await generation(other) in told
    assert await generation(other) != await generation(daemon)
    assert await say(other, "again") == 4
    assert await other.end() == 0


async def test_without_a_daemon_a_server_runs_for_it(
    daemon: DaemonProcess, home: Path, keeper: Keeper
) -> None:
    await two_in_a_room(daemon)
    assert await daemon.end() == 0
    keeper.run("backup", daemon, home / "rooms.backup")
    assert daemon.no_server_runs()
    assert left_behind(daemon) == {"rooms.backup"}


async def test_what_cannot_be_done_is_a_sentence(
    daemon: DaemonProcess, make: Make, home: Path, account: Account, keeper: Keeper
) -> None:
    await two_in_a_room(daemon)
    backup = home / "rooms.backup"
    keeper.run("backup", daemon, backup)
    assert "is there already" in keeper.run("backup", daemon, backup, code=1)
    assert f"another coordroomsd (pid {daemon.pid})" in keeper.run(
        "restore", daemon, backup, code=1
    )
    assert await daemon.end() == 0
    assert "is not empty" in keeper.run("restore", daemon, backup, code=1)
    other = make(another_home(home, account))
    assert "there is no database in" in keeper.run("backup", other, home / "none", code=1)
    assert "is no backup" in keeper.run(
        "restore", other, other.state_dir.parent / "config.toml", code=1
    )
    assert not other.state_dir.exists()
    assert not (home / "none").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_one_that_is_told_to_end_leaves_no_file(
    number: signal.Signals, daemon: DaemonProcess, home: Path, keeper: Keeper
) -> None:
    before = set(os.listdir(home))
    holder = await asyncpg.connect(**daemon.server_address())
    async with holder.transaction():
        await holder.execute("LOCK TABLE events")
        backup = keeper.spawn("backup", daemon, home / "rooms.backup")
        waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"
        await until(lambda: holder.fetchval(waits))
        backup.send_signal(number)
        _, told = await asyncio.to_thread(backup.communicate, None, GIVE_UP_AFTER_S)
    await holder.close()
    assert (backup.returncode, told) == (1, "coordroomsd: interrupted\n")
    assert set(os.listdir(home)) == before
    assert daemon.is_running


@AS_BOTH
async def test_a_room_moves_to_another_daemon(
    daemon: DaemonProcess, make: Make, home: Path, account: Account, keeper: Keeper
) -> None:
    await two_in_a_room(daemon)
    await say(daemon, "moved")
    file = home / "plan.jsonl"
    assert keeper.run("export", daemon, "Plan", file) == "exported 1 room with 3 events\n"
    assert "no room 'plant'" in keeper.run("export", daemon, "plant", code=1)
    told = keeper.run("import", daemon, file, "--name", "second", code=1)
    assert f"another coordroomsd (pid {daemon.pid})" in told

    other = make(another_home(home, account))
    assert keeper.run("import", other, file) == "imported 1 room with 3 events as plan\n"
    assert "--name" in keeper.run("import", other, file, code=1)
    told = keeper.run("import", other, file, "--name", "Plan of old")
    assert told.endswith(
        "as plan-of-old. Active in other rooms, and so no longer in this one: ann, bob\n"
    )
    cut = home / "cut.jsonl"
    cut.write_bytes(file.read_bytes()[:-30])
    told = keeper.run("import", other, cut, "--name", "third", code=1)
    assert "line 7 is cut short. Nothing was imported" in told
    await other.start()
    assert await bodies(other) == ["moved"]
    assert await say(other, "again") == 4
    assert await other.end() == 0


async def test_through_a_pipe(
    daemon: DaemonProcess, make: Make, home: Path, account: Account, keeper: Keeper
) -> None:
    await two_in_a_room(daemon)
    other = make(another_home(home, account))
    await asyncio.to_thread(
        subprocess.run,
        f"{account.python} -m coordroomsd backup --state-dir {daemon.state_dir} - |"
        f"{account.python} -m coordroomsd restore --state-dir {other.state_dir} -",
        shell=True,
        check=True,
        cwd=home,
        env=account.environment(),
    )
    await other.start()
    shown = await other.caller("ann").call("GET", f"{ROOM}/members")
    assert [member["name"] for member in shown.body["members"]] == ["ann", "bob"]
    assert await other.end() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root meets the directories of others")
async def test_root_starts_no_server_in_the_directory_of_another(
    daemon: DaemonProcess, home: Path, keeper: Keeper
) -> None:
    """The files that it would leave there would be root's, and the daemon could not open them."""
    await two_in_a_room(daemon)
    assert await daemon.end() == 0
    os.chown(daemon.state_dir, 65534, 65534)
    for command in ("backup", "restore"):
        file = home / "rooms.backup"
        if command == "restore":
            os.chown(daemon.state_dir, 0, 0)
            keeper.run("backup", daemon, file)
            os.chown(daemon.state_dir, 65534, 65534)
        assert "runuser -u nobody" in keeper.run(command, daemon, file, code=1)
    os.chown(daemon.state_dir, 0, 0)
