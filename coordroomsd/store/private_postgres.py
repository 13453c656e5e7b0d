"""The private database: a PostgreSQL server that belongs to one daemon and its state directory.

It listens on a Unix socket alone, in a directory that only its user may enter, and asks for no
password there.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import asyncpg

from coordroomsd.store.data_claims import STOP_STEPS, claim_data, hold_state, remove_claim
from coordroomsd.store.errors import ServerFailedError, StateDirectoryError, StoreError
from coordroomsd.store.file_locks import FileLock
from coordroomsd.store.postgres_binaries import find_binaries
from coordroomsd.store.server_processes import Child, exit_described, is_ready
from coordroomsd.store.server_settings import PORT, initdb_arguments, postgres_arguments
from coordroomsd.store.server_users import server_user
from coordroomsd.store.state_directories import StateDirectory

log = logging.getLogger(__name__)

USER: Final = "coordrooms"
DATABASE: Final = "coordrooms"

READY_WITHIN_S: Final = 300.0  # Recovery reads at most max_wal_size.
AT_ONCE_S: Final = 10.0
LOG_LIMIT: Final = 8 * 1024 * 1024

# A server that served this long had no trouble starting.
STEADY_AFTER_S: Final = 1.0
FIRST_PAUSE_S: Final = 0.1
LONGEST_PAUSE_S: Final = 5.0


class PrivatePostgres:
    """Runs from `start` to `stop`, and is started again when it ends by itself.

    `state_dir` holds everything of it. `run_as` is whom the server runs as when we are root (see
    `server_user`). `exited` hears of each unexpected end: the exit code, negative for a signal.

    :raises RunAsError: `run_as` does not exist or is root.
    """

    def __init__(
        self,
        state_dir: Path,
        run_as: str | None = None,
        *,
        exited: Callable[[int], None] | None = None,
    ) -> None:
        self._state = StateDirectory(state_dir, server_user(run_as))
        self._exited = exited
        self._lock: FileLock | None = None
        self._child: Child | None = None
        self._command: list[str] = []
        self._supervisor: asyncio.Task[None] | None = None
        self._log_begins = 0

    @property
    def pid(self) -> int | None:
        """The server's process, None when it does not run."""
        return self._child.pid if self._child and self._child.is_running else None

    @property
    def data(self) -> Path:
        return self._state.data

    def is_made(self) -> bool:
        """Whether there is data already.

        :raises StateDirectoryError: there is something else, or it may not be read.
        """
        return self._state.major() is not None

    def is_in_use(self) -> bool:
        """Whether somebody runs the server just now: this one, or another daemon."""
        try:
            with FileLock(self._state.lock, make=False) as lock:
                return not lock.acquire()
        except FileNotFoundError:
            return False

    def connect_arguments(self, database: str = DATABASE) -> dict[str, Any]:
        """For `asyncpg.connect`; complete, so that PGPORT and its like change nothing."""
        return {
            "host": str(self._state.socket_directory()),
            "port": PORT,
            "user": USER,
            "password": "",
            "database": database,
            "ssl": False,
        }

    async def start(self) -> None:
        """Return when the server takes connections; makes the data first when there is none.

        Call it in the main thread: Linux ends the server with the thread that started it. When
        it fails or is cancelled, nothing is left running and nothing half-made.

        :raises StateDirectoryInUseError: another daemon, or somebody else's server, has it.
        :raises StateDirectoryError: the directory does not serve.
        :raises BinariesNotFoundError, DataVersionError: there is no PostgreSQL to run it with.
        :raises ServerFailedError: PostgreSQL ended; the message has the end of its log.
        """
        if self._lock is not None:
            raise RuntimeError("the private database is started already")
        try:
            self._state.prepare()
            self._lock = hold_state(self._state)
            with await claim_data(self._state) as claim:
                major = self._state.major()
                binaries = find_binaries(self._state.user, major, self._state.binaries)
                if major is None:
                    await self._make_data(binaries.initdb, binaries.major, claim)
                self._state.hand_over_data()
                sockets = self._state.socket_directory()
                self._command = [
                    binaries.postgres,
                    *postgres_arguments(binaries.major, self._state.data, sockets),
                ]
                child = self._spawn_server(claim)
            await self._until_ready(child)
            await self._make_database()
        except OSError as error:
            self._end_at_once()
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            remedy = "Free some space there" if is_full else "Make it writable for this user"
            raise StateDirectoryError(
                f"the state directory {self._state.path} does not serve: {error}. {remedy}, or "
                "name another with --state-dir"
            ) from error
        except BaseException:
            self._end_at_once()
            raise
        self._supervisor = asyncio.create_task(self._supervise(child), name="private postgres")

    async def stop(self) -> None:
        """Stop the server and leave only data and log; harmless when it does not run."""
        try:
            if self._supervisor is not None:
                self._supervisor.cancel()
                await asyncio.wait([self._supervisor])
            if self._child is not None:
                await self._child.stop(STOP_STEPS)
        finally:
            self._end_at_once()

    async def _supervise(self, child: Child) -> None:
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            began = loop.time()
            code = await child.wait()
            failures = 0 if loop.time() - began >= STEADY_AFTER_S else failures + 1
            log.error(
                "the private database server ended by itself (%s) and is started again; its log "
                "is %s",
                exit_described(code),
                self._state.log,
            )
            if self._exited is not None:
                loop.call_soon(self._exited, code)
            while (started := await self._start_again(failures)) is None:
                failures += 1
            child = started

    async def _start_again(self, failures: int) -> Child | None:
        """None when it failed. Failures in a row lengthen the pause; after the first is none."""
        if failures > 1:
            await asyncio.sleep(min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(failures, 10)))
        try:
            with await claim_data(self._state) as claim:
                child = self._spawn_server(claim)
            await self._until_ready(child)
        except (StoreError, OSError) as error:
            log.error("the private database server does not start: %s", error)
            return None
        return child

    async def _make_data(self, initdb: str, major: int, claim: FileLock) -> None:
        unfinished = self._state.make_unfinished_data()
        code = await self._spawn([initdb, *initdb_arguments(major, unfinished, USER)], claim).wait()
        if code:
            raise ServerFailedError(
                f"making the private database failed ({exit_described(code)}): {self._log_end()}"
            )
        self._state.finish_data()

    async def _make_database(self) -> None:
        try:
            connection = await asyncpg.connect(**self.connect_arguments("postgres"), timeout=30)
        except (OSError, asyncpg.PostgresError) as error:
            raise ServerFailedError(
                f"the private database server runs and takes no connection ({error}): "
                f"{self._log_end()}"
            ) from error
        try:
            known = "SELECT 1 FROM pg_database WHERE datname = $1"
            if await connection.fetchval(known, DATABASE) is None:
                await connection.execute(f"CREATE DATABASE {DATABASE}")
        finally:
            await connection.close()

    def _spawn_server(self, claim: FileLock) -> Child:
        self._state.clear_sockets()
        return self._spawn(self._command, claim)

    def _spawn(self, command: list[str], claim: FileLock) -> Child:
        path = self._state.log
        if path.exists() and path.stat().st_size > LOG_LIMIT:
            path.rename(path.with_suffix(".log.1"))
        output = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            self._log_begins = os.fstat(output).st_size
            self._child = Child(
                command, user=self._state.user, output=output, inherited=claim.descriptor
            )
        finally:
            os.close(output)
        return self._child

    async def _until_ready(self, child: Child) -> None:
        try:
            async with asyncio.timeout(READY_WITHIN_S):
                while not is_ready(self._state.data, child.pid):
                    if not child.is_running:
                        raise ServerFailedError(
                            "the private database server does not run "
                            f"({exit_described(await child.wait())}): {self._log_end()}"
                        )
                    await asyncio.wait([child.exited], timeout=0.01)
        except TimeoutError:
            raise ServerFailedError(
                f"the private database server was not ready within {READY_WITHIN_S:.0f} s: "
                f"{self._log_end()}"
            ) from None

    def _log_end(self) -> str:
        with self._state.log.open("rb") as file:
            file.seek(max(self._log_begins, file.seek(0, os.SEEK_END) - 1500))
            text = file.read().decode(errors="replace").strip()
        return f"{text}\n(from {self._state.log})"

    def _end_at_once(self) -> None:
        """Leave nothing but data and log; without awaiting, because a cancelled task may not."""
        if self._child is not None:
            # A server's immediate shutdown; initdb removes what it made.
            self._child.end_now(signal.SIGQUIT, AT_ONCE_S)
        # Without the lock all that is there is somebody else's.
        if self._lock is not None:
            remove_claim(self._state, AT_ONCE_S if self._child else 0)
            self._state.discard_unfinished_data()
            self._state.remove_sockets()
            self._lock.remove()
        self._child = self._supervisor = self._lock = None
