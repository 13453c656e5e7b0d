"""The private server's processes, to be killed or stopped one by one."""

from __future__ import annotations

from pathlib import Path

import asyncpg

from tests.daemon_processes import DaemonProcess


def server_pid(daemon: DaemonProcess) -> int:
    """The first process of the server, which starts all others."""
    pid = daemon.server_pid()
    assert pid is not None
    return pid


def server_pids(daemon: DaemonProcess) -> list[int]:
    """Every process of the server, the first one first."""
    first = server_pid(daemon)
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return [first, *map(int, children)]


async def sessions(daemon: DaemonProcess) -> dict[str, int]:
    """The processes of the daemon's own sessions, by what these call themselves."""
    connection = await asyncpg.connect(**daemon.server_address())
    try:
        rows = await connection.fetch(
            "SELECT application_name, pid FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
    finally:
        await connection.close()
    return {row["application_name"]: row["pid"] for row in rows}


def resident_bytes(pid: int) -> int:
    """What a process holds in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


def open_descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))
