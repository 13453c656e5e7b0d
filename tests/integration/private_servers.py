"""What tests of the private server look at: its rows, its processes, its directory."""

from __future__ import annotations

from pathlib import Path

import asyncpg

from coordroomsd.store.file_locks import FileLock
from coordroomsd.store.private_postgres import PrivatePostgres


async def insert_row(server: PrivatePostgres) -> None:
    connection = await asyncpg.connect(**server.connect_arguments())
    await connection.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
    await connection.execute("INSERT INTO kept VALUES (1)")
    await connection.close()


async def count_rows(server: PrivatePostgres) -> int:
    connection = await asyncpg.connect(**server.connect_arguments())
    count: int = await connection.fetchval("SELECT count(*) FROM kept")
    await connection.close()
    return count


async def is_up(server: PrivatePostgres) -> bool:
    try:
        await count_rows(server)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return False
    return True


def status_of(server: PrivatePostgres) -> str:
    return Path(f"/proc/{server.pid}/status").read_text()


def no_server_runs(state_dir: Path) -> bool:
    """Each process of a server, and of the making of one, holds this lock."""
    path = state_dir / "server.lock"
    if not path.exists():
        return True
    with FileLock(path) as lock:
        return lock.acquire()


def only_data_is_left(state_dir: Path) -> bool:
    running = (state_dir / "data" / "postmaster.pid").exists()
    return {path.name for path in state_dir.iterdir()} == {"data", "postgres.log"} and not running
