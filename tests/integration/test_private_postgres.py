"""The private server: made, started, stopped, cancelled and refused."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import asyncpg
import pytest

from coordroomsd.store import data_claims, private_postgres
from coordroomsd.store.errors import (
    RunAsError,
    ServerFailedError,
    StateDirectoryError,
    StateDirectoryInUseError,
)
from coordroomsd.store.file_locks import FileLock
from coordroomsd.store.postgres_binaries import find_binaries
from coordroomsd.store.private_postgres import PrivatePostgres
from coordroomsd.store.server_processes import ENVIRONMENT, is_ready
from coordroomsd.store.server_users import server_user
from tests.integration.keepers import Keeper, ourselves
from tests.integration.private_servers import (
    count_rows,
    insert_row,
    no_server_runs,
    only_data_is_left,
    status_of,
)
from tests.polling import until

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root chooses the server's user")


def another_container() -> str:
    """The command that runs another in namespaces of its own."""
    namespaces = "unshare --pid --ipc --fork --mount-proc"
    if subprocess.run([*namespaces.split(), "true"], capture_output=True).returncode:
        pytest.skip("may not make namespaces here")
    return namespaces


@contextmanager
def server_of_somebody_else(state_dir: Path) -> Iterator[int]:
    """A server on the data that no daemon started, as a person might for a dump; its process."""
    user = server_user(None)
    sockets = state_dir / "sockets"
    sockets.mkdir()
    user.own(sockets)
    process = subprocess.Popen(
        [
            find_binaries(user, None, state_dir / "bin").postgres,
            *("-D", state_dir / "data", "-k", sockets, "-c", "listen_addresses="),
        ],
        env=ENVIRONMENT,
        stderr=subprocess.DEVNULL,
        **user.popen_arguments(),
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


class TestStarting:
    async def test_first_start_makes_the_data_and_later_ones_keep_it(self, state_dir: Path) -> None:
        server = PrivatePostgres(state_dir)
        await server.start()
        await insert_row(server)
        await server.stop()
        assert only_data_is_left(state_dir)
        await server.start()
        assert await count_rows(server) == 1
        await server.stop()
        assert only_data_is_left(state_dir)

    async def test_what_is_acknowledged_is_on_the_disk(self, server: PrivatePostgres) -> None:
        connection = await asyncpg.connect(**server.connect_arguments())
        for setting in ("fsync", "synchronous_commit", "full_page_writes", "data_checksums"):
            assert await connection.fetchval(f"SHOW {setting}") == "on"
        assert await connection.fetchval("SHOW server_encoding") == "UTF8"
        assert await connection.fetchval("SHOW listen_addresses") == ""
        await connection.close()

    async def test_the_environment_changes_no_address(
        self, server: PrivatePostgres, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in {
            "PGHOST": "nowhere.invalid",
            "PGPORT": "1",
            "PGUSER": "somebody",
            "PGDATABASE": "something",
            "PGPASSWORD": "secret",
            "PGSSLMODE": "require",
        }.items():
            monkeypatch.setenv(name, value)
        connection = await asyncpg.connect(**server.connect_arguments())
        assert await connection.fetchval("SELECT current_database()") == "coordrooms"
        await connection.close()

    def test_the_loop_may_be_asyncio_s_own(self, used_state_dir: Path) -> None:
        async def start_and_stop() -> None:
            server = PrivatePostgres(used_state_dir)
            await server.start()
            assert await count_rows(server) == 1
            await server.stop()

        asyncio.run(start_and_stop())
        assert only_data_is_left(used_state_dir)

    async def test_a_long_log_is_put_aside(
        self, used_state_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(private_postgres, "LOG_LIMIT", 10)
        log = used_state_dir / "postgres.log"
        before = log.read_bytes()
        server = PrivatePostgres(used_state_dir)
        await server.start()
        await server.stop()
        assert log.with_name("postgres.log.1").read_bytes() == before
        assert b"ready to accept connections" in log.read_bytes()

    async def test_starting_twice_is_an_error(self, used_server: PrivatePostgres) -> None:
        with pytest.raises(RuntimeError, match="started already"):
            await used_server.start()
        assert await count_rows(used_server) == 1

    async def test_stopping_what_never_ran_is_nothing(self, state_dir: Path) -> None:
        await PrivatePostgres(state_dir / "none").stop()
        assert not (state_dir / "none").exists()

    @as_root
    async def test_the_server_has_nothing_of_root(self, server: PrivatePostgres) -> None:
        status = status_of(server)
        user = server_user(None)
        assert f"Uid:\t{user.uid}\t{user.uid}\t{user.uid}\t{user.uid}\n" in status
        assert f"Gid:\t{user.gid}\t{user.gid}\t{user.gid}\t{user.gid}\n" in status
        assert "Groups:\t \n" in status

    @as_root
    async def test_data_follows_a_change_of_user(self, used_state_dir: Path) -> None:
        server = PrivatePostgres(used_state_dir, run_as="daemon")
        await server.start()
        assert await count_rows(server) == 1
        assert (used_state_dir / "data" / "base").owner() == "daemon"
        await server.stop()

    @as_root
    @pytest.mark.parametrize("name", ["root", "no-such-user"])
    def test_unusable_user_is_refused(self, state_dir: Path, name: str) -> None:
        with pytest.raises(RunAsError, match=name):
            PrivatePostgres(state_dir, run_as=name)


class TestRefusing:
    async def test_second_daemon_is_told_who_has_it(self, used_state_dir: Path) -> None:
        keeper = Keeper(ourselves(), used_state_dir)
        try:
            await keeper.ready()
            with pytest.raises(StateDirectoryInUseError, match=f"pid {keeper.process.pid}"):
                await PrivatePostgres(used_state_dir).start()
            keeper.process.terminate()
            assert await keeper.exit_code() == 0
        finally:
            keeper.discard()

    @as_root
    async def test_second_daemon_in_another_container_too(
        self, used_state_dir: Path, used_server: PrivatePostgres
    ) -> None:
        keeper = Keeper(ourselves(), used_state_dir, within=another_container())
        try:
            assert f"in use by another coordroomsd (pid {os.getpid()})" in await keeper.first_line()
        finally:
            keeper.discard()
        assert await count_rows(used_server) == 1

    async def test_a_server_of_somebody_else_is_left_alone(self, used_state_dir: Path) -> None:
        with server_of_somebody_else(used_state_dir) as pid:
            await until(lambda: is_ready(used_state_dir / "data", pid))
            with pytest.raises(StateDirectoryInUseError, match=f"pid {pid}"):
                await PrivatePostgres(used_state_dir).start()
            assert is_ready(used_state_dir / "data", pid)

    async def test_unseen_server_is_refused(
        self, used_state_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """One of another container on the same volume holds the lock and has no process here."""
        monkeypatch.setattr(data_claims, "STOP_STEPS", [(2, 0.05)])
        with FileLock(used_state_dir / "server.lock") as held:
            assert held.acquire()
            with pytest.raises(ServerFailedError, match=r"still uses .*data and does not stop"):
                await PrivatePostgres(used_state_dir).start()
        server = PrivatePostgres(used_state_dir)
        await server.start()
        await server.stop()

    async def test_something_else_in_place_of_the_data(self, state_dir: Path) -> None:
        (state_dir / "data").mkdir()
        (state_dir / "data" / "letter").write_text("to whom it may concern")
        with pytest.raises(StateDirectoryError, match="not a database's data directory"):
            await PrivatePostgres(state_dir).start()
        assert (state_dir / "data" / "letter").exists()

    async def test_damaged_data_shows_what_the_server_said(self, used_state_dir: Path) -> None:
        (used_state_dir / "data" / "global" / "pg_control").unlink()
        with pytest.raises(ServerFailedError, match=r"exit code \d[\s\S]*could not find the datab"):
            await PrivatePostgres(used_state_dir).start()
        assert only_data_is_left(used_state_dir)

    async def test_failing_initdb_shows_what_it_said(
        self, state_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            "coordroomsd.store.private_postgres.initdb_arguments",
            lambda major, data, user: ["-D", str(data), "--encoding=nonsense"],
        )
        with pytest.raises(ServerFailedError, match=r'exit code 1[\s\S]*"nonsense" is not a valid'):
            await PrivatePostgres(state_dir).start()
        assert not (state_dir / "data").exists()
        assert not (state_dir / "data.new").exists()
        monkeypatch.undo()
        server = PrivatePostgres(state_dir)
        await server.start()
        await server.stop()


class TestCancelling:
    async def test_while_the_data_is_made(self, state_dir: Path) -> None:
        starting = asyncio.create_task(PrivatePostgres(state_dir).start())
        await until((state_dir / "data.new" / "PG_VERSION").exists)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert no_server_runs(state_dir)
        assert not (state_dir / "data.new").exists()
        assert not (state_dir / "data").exists()

    async def test_while_the_server_starts(self, used_state_dir: Path) -> None:
        starting = asyncio.create_task(PrivatePostgres(used_state_dir).start())
        await until((used_state_dir / "data" / "postmaster.pid").exists)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert no_server_runs(used_state_dir)
        server = PrivatePostgres(used_state_dir)
        await server.start()
        assert await count_rows(server) == 1
        await server.stop()

    async def test_in_a_scope_that_cancels_every_further_await(self, state_dir: Path) -> None:
        with anyio.CancelScope() as scope:
            async with asyncio.TaskGroup() as group:
                group.create_task(PrivatePostgres(state_dir).start())
                await until((state_dir / "data.new").exists)
                scope.cancel()
        assert scope.cancelled_caught
        assert no_server_runs(state_dir)
        assert not (state_dir / "data.new").exists()

    async def test_while_it_stops(self, used_state_dir: Path) -> None:
        server = PrivatePostgres(used_state_dir)
        await server.start()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await server.stop()
        assert no_server_runs(used_state_dir)
        assert only_data_is_left(used_state_dir)
