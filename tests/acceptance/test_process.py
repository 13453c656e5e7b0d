"""The daemon as its user meets it: started, told to end, killed, and started beside another."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import stat
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.daemon_processes import DaemonProcess, made_state
from tests.figures import report
from tests.http_callers import Caller
from tests.integration.keepers import Account, ordinary_user, ourselves
from tests.polling import until

__all__ = ["made_state"]

ROOM: Final = "/rooms/plan"
Make = Callable[..., DaemonProcess]


@pytest.fixture
def account(request: pytest.FixtureRequest) -> Account:
    return getattr(request, "param", ourselves)()


# As the user that runs the tests, mostly root, and as one who is not.
AS_BOTH = pytest.mark.parametrize("account", [ourselves, ordinary_user], indirect=True)


@pytest.fixture
def home(account: Account, state_dir: Path) -> Path:
    """The user's own directory."""
    account.own(state_dir)
    return state_dir


@pytest.fixture
async def make(account: Account) -> AsyncIterator[Make]:
    """Make daemons of the user, which end with the test."""
    made: list[DaemonProcess] = []

    def make(home: Path, *options: str | Path) -> DaemonProcess:
        daemon = DaemonProcess(
            home,
            options=[str(option) for option in options],
            python=account.python,
            environment=account.environment(),
            **account.popen_arguments(),
        )
        made.append(daemon)
        return daemon

    yield make
    for daemon in made:
        await daemon.discard()


@pytest.fixture
async def daemon(make: Make, home: Path, account: Account, made_state: Path) -> DaemonProcess:
    """A daemon that serves."""
    daemon = make(home)
    daemon.begin_with(made_state)
    account.own(home)
    await daemon.start()
    return daemon


def another_home(home: Path, account: Account) -> Path:
    path = home / "another"
    path.mkdir()
    account.own(path)
    return path


def left_behind(daemon: DaemonProcess) -> set[str]:
    """What there is beside the data, the log, and what was there before the start."""
    state = (
        {path.name for path in daemon.state_dir.iterdir()} if daemon.state_dir.exists() else set()
    )
    beside = {path.name for path in daemon.socket.parent.iterdir()}
    return (state - {"data", "postgres.log"}) | (beside - {"state", "config.toml", "daemon.log"})


async def two_in_a_room(daemon: DaemonProcess) -> tuple[Caller, Caller]:
    ann, bob = daemon.caller("ann"), daemon.caller("bob")
    assert (await ann.call("POST", "/rooms", {"name": "plan"})).status == 201
    assert (await bob.call("POST", f"{ROOM}/join")).status == 200
    return ann, bob


async def is_waiting(caller: Caller) -> bool:
    shown = (await caller.call("GET", f"{ROOM}/members")).body["members"]
    return any(member["waiting"] for member in shown)


class TestEnding:
    @AS_BOTH
    @pytest.mark.parametrize(
        "tell",
        [
            lambda daemon: daemon.end(signal.SIGTERM),
            # These go to all of a terminal's processes, and the database must not end first.
            lambda daemon: daemon.end(signal.SIGINT, group=True),
            lambda daemon: daemon.end(signal.SIGHUP, group=True),
        ],
        ids=["SIGTERM", "Ctrl-C", "a closed terminal"],
    )
    async def test_it_answers_whoever_waits_and_leaves_only_data(
        self,
        daemon: DaemonProcess,
        tell: Callable[[DaemonProcess], Awaitable[int]],
    ) -> None:
        ann, bob = await two_in_a_room(daemon)
        wait = asyncio.create_task(bob.call("GET", f"{ROOM}/wait", after_seq=2, timeout_s=60))
        await until(lambda: is_waiting(ann))
        began = asyncio.get_running_loop().time()
        assert await tell(daemon) == 0
        report("ended", asyncio.get_running_loop().time() - began)
        assert (await wait).body["reason"] == "closing"
        assert daemon.no_server_runs()
        assert left_behind(daemon) == set()
        assert "Traceback" not in daemon.read_log()

    async def test_callers_that_say_nothing_or_half_do_not_hold_it_up(
        self, daemon: DaemonProcess
    ) -> None:
        half = b"POST /api/v1/rooms HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        writers = []
        for said in (b"", half[:20], half):
            _, writer = await asyncio.open_unix_connection(daemon.socket)
            writer.write(said)
            writers.append(writer)
        assert (await daemon.caller("ann").call("GET", "/rooms")).status == 200
        began = asyncio.get_running_loop().time()
        assert await daemon.end() == 0
        report("ended with half requests open", asyncio.get_running_loop().time() - began)
        for writer in writers:
            writer.close()

    @pytest.mark.parametrize(
        ("account", "number"),
        [(ourselves, signal.SIGTERM), (ordinary_user, signal.SIGINT)],
        indirect=["account"],
    )
    async def test_while_it_makes_its_database(
        self, make: Make, home: Path, number: signal.Signals
    ) -> None:
        """At random moments of the first start, of which the import and initdb take most."""
        daemon = make(home)
        for _ in range(4):
            daemon.spawn()
            if number == signal.SIGINT:
                # Before any line of ours is run, Python may lose it.
                await until((daemon.state_dir / "lock").exists)
            await asyncio.sleep(random.uniform(0, 1.5))
            began = asyncio.get_running_loop().time()
            # Before any line of ours is run, it ends Python itself.
            code = await daemon.end(number, group=True)
            assert code in (0, -number), daemon.read_log()
            report("ended while starting", asyncio.get_running_loop().time() - began)
            assert daemon.no_server_runs()
            assert left_behind(daemon) == set()
        await daemon.start()
        assert await daemon.end() == 0

    async def test_killed_while_it_makes_its_database(self, make: Make, home: Path) -> None:
        daemon = make(home)
        for _ in range(4):
            daemon.spawn()
            await asyncio.sleep(random.uniform(0.3, 1.5))
            daemon.kill()
        await daemon.start()
        assert await daemon.end() == 0
        assert left_behind(daemon) == set()

    async def test_what_it_was_told_to_ignore_does_not_end_it(self, make: Make, home: Path) -> None:
        """As nohup does."""
        daemon = make(home)
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            daemon.spawn()
        finally:
            signal.signal(signal.SIGHUP, before)
        await daemon.ready()
        os.kill(daemon.pid, signal.SIGHUP)
        await two_in_a_room(daemon)
        assert await daemon.end() == 0

    async def test_twice(self, daemon: DaemonProcess) -> None:
        """Whoever is impatient presses Ctrl-C again."""
        os.kill(daemon.pid, signal.SIGINT)
        os.kill(daemon.pid, signal.SIGINT)
        assert await daemon.end(signal.SIGTERM) == 0
        assert daemon.no_server_runs()
        assert left_behind(daemon) == set()


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


class TestRestarts:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
    async def test_everything_outlives_them(
        self, daemon: DaemonProcess, number: signal.Signals
    ) -> None:
        ann, bob = await two_in_a_room(daemon)
        question = {"messages": [{"kind": "question", "body": "Which port?"}]}
        asked = await ann.call("POST", f"{ROOM}/messages", question, idempotency_key="asked")
        seq = asked.body["messages"][0]["seq"]
        await bob.call("GET", f"{ROOM}/messages")
        await bob.call("POST", "/cursor", {"cursors": {"plan": seq}})
        await bob.call("PUT", f"{ROOM}/messages/{seq}/reactions/agree")
        await bob.call("PUT", f"{ROOM}/status", {"status": "drafting", "expires_in_s": 3600})
        await bob.call("POST", f"{ROOM}/claims", {"key": "the-draft"})
        note = {"kind": "note", "body": "between us"}
        talk = await ann.call("POST", "/conversations", {"with": "bob"})
        path = f"/conversations/{talk.body['conversation']['id']}/messages"
        await ann.call("POST", path, note, idempotency_key="noted")

        before = await everything(ann, bob, path)
        assert await daemon.end(number) in (0, -number)
        await daemon.start()
        assert await everything(ann, bob, path) == before
        again = await ann.call("POST", f"{ROOM}/messages", question, idempotency_key="asked")
        assert (again.replayed, again.body) == (True, asked.body)
        said = await bob.call("POST", f"{ROOM}/messages", question)
        assert said.body["latest_seq"] == before["log"]["latest_seq"] + 1


async def everything(ann: Caller, bob: Caller, thread: str) -> dict[str, Any]:
    """What is shown of the room and of the thread, apart from when somebody last called."""
    paths = {
        "log": f"{ROOM}/events",
        "messages": f"{ROOM}/messages",
        "room": ROOM,
        "receipts": f"{ROOM}/messages/3/receipts",
        "reactions": f"{ROOM}/messages/3/reactions",
        "thread": thread,
        "unread": "/unread",
        "me": "/me",
    }
    shown = {}
    for name, path in paths.items():
        for caller in (ann, bob):
            reply = await caller.until_answered("GET", path)
            assert reply.status == 200, reply
            shown[name if caller is ann else f"{name} to bob"] = reply.body
    for page in (shown["room"], shown["room to bob"]):
        for member in page["members"]:
            del member["last_seen_at"], member["last_seen_seq"]
    return shown
