"""A PostgreSQL as an operator sets one up: over TCP, with a password, not ours to start or stop."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import quote

import asyncpg

from coordroomsd.store.file_locks import FileLock
from coordroomsd.store.server_processes import ENVIRONMENT, Child, is_ready
from coordroomsd.store.server_users import server_user
from coordroomsd.store.sessions import ConnectArguments

PASSWORD: Final = "sp@ce /sl:ash?"


def debian_binaries() -> list[Path]:
    """What apt installs, newest first; other systems' packages are not looked for."""
    found = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    return sorted((file.parent for file in found), key=lambda d: -int(d.parent.name))


class ConfiguredServer:
    """Started by `start` from `binaries`; `directory` has all of it and goes with it."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self._user = server_user(None)
        self._child: Child | None = None
        self.directory = make_state_dir()
        self.port = free_port()

    def url(self, database: str) -> str:
        return f"postgresql://keeper:{quote(PASSWORD, safe='')}@127.0.0.1:{self.port}/{database}"

    async def start(self, *settings: str) -> None:
        data = self._directory_of_user("data")
        passwords = self.directory / "password"
        passwords.write_text(PASSWORD)
        self._user.own(passwords)
        await asyncio.to_thread(
            self._run, "initdb", "-D", data, "-U", "keeper", "--encoding=UTF8", "--locale=C",
            "-A", "scram-sha-256", f"--pwfile={passwords}", "--no-sync",
        )  # fmt: skip
        await self._serve(data, *settings)

    async def start_standby_of(self, primary: ConfiguredServer) -> None:
        data = self._directory_of_user("data")
        await asyncio.to_thread(
            self._run, "pg_basebackup", "-D", data, "-d", primary.url("postgres"), "--no-sync",
            "--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream",
        )  # fmt: skip
        await self._serve(data)

    async def crash(self) -> None:
        if self._child is not None:
            await self._child.stop([(signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0)])

    async def start_again(self) -> None:
        """After a crash."""
        await self._serve(self.directory / "data")

    async def stop(self) -> None:
        await self.crash()
        shutil.rmtree(self.directory)

    async def _serve(self, data: Path, *settings: str) -> None:
        sockets = self._directory_of_user("s")
        command = [
            str(self._binaries / "postgres"), "-D", str(data), f"--port={self.port}",
            "--listen_addresses=127.0.0.1", f"--unix_socket_directories={sockets}", *settings,
        ]  # fmt: skip
        output = os.open(self.directory / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with FileLock(self.directory / "server.lock") as lock:
            child = Child(command, user=self._user, output=output, inherited=lock.descriptor)
        os.close(output)
        self._child = child
        while not is_ready(data, child.pid):
            assert child.is_running, (self.directory / "log").read_text()
            await asyncio.wait([child.exited], timeout=0.01)

    def _directory_of_user(self, name: str) -> Path:
        path = self.directory / name
        path.mkdir(mode=0o700, exist_ok=True)
        self._user.own(path)
        return path

    def _run(self, program: str, *arguments: object) -> None:
        subprocess.run(
            [self._binaries / program, *map(str, arguments)],
            env=ENVIRONMENT,
            cwd="/",
            check=True,
            capture_output=True,
            **self._user.popen_arguments(),
        )


async def connect(address: ConnectArguments) -> asyncpg.Connection:
    return await asyncpg.connect(**({"dsn": address} if isinstance(address, str) else address))


async def execute(address: ConnectArguments, sql: str) -> None:
    """Run `sql` in a session of its own."""
    connection = await connect(address)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def can_connect(address: ConnectArguments) -> bool:
    try:
        connection = await connect(address)
    except (OSError, asyncpg.PostgresError):
        return False
    await connection.close()
    return True


def make_state_dir() -> Path:
    """An empty directory whose path is short, as a socket's must be.

    As root, it is open to the user that the server runs as; pytest's own are closed all the way.
    """
    path = Path(tempfile.mkdtemp(prefix="coordrooms-", dir="/tmp"))
    if os.geteuid() == 0:
        path.chmod(0o711)
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
