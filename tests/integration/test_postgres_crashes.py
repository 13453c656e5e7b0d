"""Whatever is killed, what was committed stays, nothing runs on, and the next start succeeds."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from coordroomsd.store import private_postgres, server_processes
from coordroomsd.store.database import Database
from coordroomsd.store.private_postgres import PrivatePostgres
from coordroomsd.store.server_processes import postmaster_pid
from coordroomsd.store.server_users import server_user
from tests.integration.keepers import Account, Keeper, ordinary_user, ourselves
from tests.integration.private_servers import (
    count_rows,
    insert_row,
    is_up,
    no_server_runs,
    only_data_is_left,
)
from tests.polling import until


class TestServerKilled:
    @pytest.fixture
    def exits(self) -> asyncio.Queue[int]:
        return asyncio.Queue()

    @pytest.fixture
    async def server(
        self, used_state_dir: Path, exits: asyncio.Queue[int]
    ) -> AsyncIterator[PrivatePostgres]:
        server = PrivatePostgres(used_state_dir, exited=exits.put_nowait)
        await server.start()
        yield server
        await server.stop()
        assert no_server_runs(used_state_dir)

    async def test_it_is_started_again_with_its_data(
        self, server: PrivatePostgres, used_state_dir: Path, exits: asyncio.Queue[int]
    ) -> None:
        await insert_row(server)
        kill_server(server)
        assert await exits.get() == -signal.SIGKILL
        await until(lambda: is_up(server))
        assert await count_rows(server) == 2
        await server.stop()
        assert only_data_is_left(used_state_dir)

    async def test_again_and_again(
        self,
        server: PrivatePostgres,
        exits: asyncio.Queue[int],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(private_postgres, "FIRST_PAUSE_S", 0.001)
        for round_number in range(5):
            await insert_row(server)
            kill_server(server)
            await exits.get()
            await until(lambda: is_up(server))
            assert await count_rows(server) == round_number + 2

    async def test_a_failing_start_is_tried_again(
        self,
        server: PrivatePostgres,
        used_state_dir: Path,
        exits: asyncio.Queue[int],
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        monkeypatch.setattr(private_postgres, "FIRST_PAUSE_S", 0.001)
        control = used_state_dir / "data" / "global" / "pg_control"
        control.rename(used_state_dir / "pg_control")
        kill_server(server)
        await exits.get()
        await until(lambda: caplog.text.count("does not start") > 2)
        (used_state_dir / "pg_control").rename(control)
        await until(lambda: is_up(server))

    async def test_stopping_does_not_wait_for_the_next_try(
        self, server: PrivatePostgres, exits: asyncio.Queue[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(private_postgres, "FIRST_PAUSE_S", 3600.0)
        monkeypatch.setattr(private_postgres, "LONGEST_PAUSE_S", 3600.0)
        for _ in range(2):
            await until(lambda: is_up(server))
            kill_server(server)
            await exits.get()
        await server.stop()

    async def test_one_session_killed_leaves_the_server(
        self, server: PrivatePostgres, exits: asyncio.Queue[int]
    ) -> None:
        connection = await asyncpg.connect(**server.connect_arguments())
        pid = server.pid
        os.kill(connection.get_server_pid(), signal.SIGKILL)
        with pytest.raises((asyncpg.PostgresError, OSError)):
            await connection.execute("SELECT pg_sleep(60)")
        await until(lambda: is_up(server))
        assert server.pid == pid
        assert exits.empty()

    async def test_the_database_comes_back_to_its_owner(
        self, server: PrivatePostgres, exits: asyncio.Queue[int]
    ) -> None:
        database = await Database.open(server.connect_arguments(), owner="us")
        await database.writer.execute("UPDATE journal SET batch = 5")
        kill_server(server)
        await database.reopen_writer()
        assert database.batch == 5
        assert await database.reads.fetchval("SELECT batch FROM journal") == 5
        await database.close()


@pytest.fixture(params=["ourselves", "an ordinary user"])
def account(request: pytest.FixtureRequest) -> Account:
    return ourselves() if request.param == "ourselves" else ordinary_user()


@pytest.fixture
def keepers(account: Account, used_state_dir: Path) -> Iterator[list[Keeper]]:
    """The daemons that a test starts; ended when it has not done so itself."""
    if account != ourselves():
        account.own(used_state_dir)
    started: list[Keeper] = []
    yield started
    for keeper in started:
        keeper.discard()


class TestDaemonKilled:
    async def test_its_server_ends_by_itself(
        self, account: Account, used_state_dir: Path, keepers: list[Keeper]
    ) -> None:
        keepers.append(Keeper(account, used_state_dir))
        await keepers[0].ready()
        keepers[0].kill()
        await until(lambda: no_server_runs(used_state_dir))
        await start_and_stop(account, used_state_dir, keepers)

    async def test_a_server_that_stays_is_stopped_by_the_next(
        self, account: Account, used_state_dir: Path, keepers: list[Keeper]
    ) -> None:
        """As on macOS, where nothing ties a process to its parent."""
        keepers.append(Keeper(account, used_state_dir, launcher=untying_launcher(used_state_dir)))
        orphan = await keepers[0].ready()
        keepers[0].kill()
        await keepers[0].exit_code()
        assert not no_server_runs(used_state_dir)
        assert await start_and_stop(account, used_state_dir, keepers) != orphan

    async def test_together_with_its_server(
        self, account: Account, used_state_dir: Path, keepers: list[Keeper]
    ) -> None:
        keepers.append(Keeper(account, used_state_dir))
        server = await keepers[0].ready()
        keepers[0].kill()
        os.kill(server, signal.SIGKILL)
        await start_and_stop(account, used_state_dir, keepers)

    async def test_while_it_makes_the_data(
        self, account: Account, state_dir: Path, keepers: list[Keeper]
    ) -> None:
        fresh = fresh_directory(account, state_dir)
        keepers.append(Keeper(account, fresh))
        await until((fresh / "data.new" / "PG_VERSION").exists)
        keepers[0].kill()
        await start_and_stop(account, fresh, keepers)

    async def test_while_its_server_starts(
        self, account: Account, used_state_dir: Path, keepers: list[Keeper]
    ) -> None:
        keepers.append(Keeper(account, used_state_dir))
        await until((used_state_dir / "data" / "postmaster.pid").exists)
        keepers[0].kill()
        await start_and_stop(account, used_state_dir, keepers)

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    async def test_told_to_end_it_leaves_only_data(
        self, account: Account, used_state_dir: Path, keepers: list[Keeper], number: signal.Signals
    ) -> None:
        """A Ctrl-C goes to all of a terminal's processes, and the server must not be the first."""
        keepers.append(Keeper(account, used_state_dir))
        await keepers[0].ready()
        os.killpg(keepers[0].process.pid, number)
        assert await keepers[0].exit_code() == 0
        assert only_data_is_left(used_state_dir)


class TestStaleFiles:
    """PostgreSQL refuses to start when a process has the number in one of its lock files."""

    @pytest.fixture
    def bystander(self) -> Iterator[subprocess.Popen[bytes]]:
        """A process of the server's user that has got the dead server's number."""
        process = subprocess.Popen(["sleep", "600"], **server_user(None).popen_arguments())
        yield process
        process.kill()
        process.wait()

    @pytest.mark.parametrize("is_zombie", [False, True])
    async def test_number_of_another_process(
        self, used_state_dir: Path, bystander: subprocess.Popen[bytes], is_zombie: bool
    ) -> None:
        if is_zombie:
            make_zombie(bystander)
        leave_lock_files(used_state_dir, bystander.pid)
        server = PrivatePostgres(used_state_dir)
        await server.start()
        assert await count_rows(server) == 1
        await server.stop()
        assert is_zombie or bystander.poll() is None

    async def test_half_written_number(self, used_state_dir: Path) -> None:
        (used_state_dir / "data" / "postmaster.pid").write_text("")
        server = PrivatePostgres(used_state_dir)
        await server.start()
        await server.stop()


def make_zombie(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def kill_server(server: PrivatePostgres) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)


async def start_and_stop(account: Account, state_dir: Path, keepers: list[Keeper]) -> int:
    """Start another daemon on what is there, and end it; its server's process id."""
    keepers.append(Keeper(account, state_dir))
    pid = await keepers[-1].ready()
    keepers[-1].process.terminate()
    assert await keepers[-1].exit_code() == 0
    assert no_server_runs(state_dir)
    return pid


def fresh_directory(account: Account, state_dir: Path) -> Path:
    path = state_dir / "fresh"
    path.mkdir()
    account.own(path)
    return path


def untying_launcher(state_dir: Path) -> Path:
    """The launcher without its request for a signal at the parent's death."""
    text = server_processes.LAUNCHER.read_text()
    tie = "PR_SET_PDEATHSIG, signal.SIGINT"
    assert tie in text
    path = state_dir / "launcher.py"
    path.write_text(text.replace(tie, "PR_SET_PDEATHSIG, 0"))
    path.chmod(0o644)
    return path


def leave_lock_files(state_dir: Path, pid: int) -> None:
    """What a killed server leaves, with its number given to `pid` by now."""
    user = server_user(None)
    sockets = state_dir / "s"
    sockets.mkdir(mode=0o700)
    user.own(sockets)
    data = state_dir / "data"
    for path in (data / "postmaster.pid", sockets / ".s.PGSQL.5432.lock"):
        path.write_text(f"{pid}\n{data}\n1700000000\n5432\n{sockets}\n\n")
        user.own(path)
    assert postmaster_pid(data) == pid
