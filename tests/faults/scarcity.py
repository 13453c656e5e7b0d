"""Too little of what a daemon needs: descriptors, and space on the disk."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.daemon_processes import DaemonProcess
from tests.faults.processes import open_descriptors
from tests.http_callers import LostError
from tests.polling import until


@contextlib.asynccontextmanager
async def none_free(daemon: DaemonProcess) -> AsyncIterator[None]:
    """All the descriptors that the daemon may have are taken, and a newcomer is turned away."""
    before = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)

    async def turns_newcomers_away() -> bool:
        # Anew each time: a session of its own that was counted may have ended since.
        limits = (open_descriptors(daemon.pid), before[1])
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, limits)
        return await is_turned_away(daemon)

    try:
        await until(turns_newcomers_away)
        yield
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, before)


async def is_turned_away(daemon: DaemonProcess) -> bool:
    newcomer = daemon.caller("cleo")
    try:
        await newcomer.call("GET", "/rooms")
    except LostError:
        return True
    finally:
        newcomer.close()
    return False


async def tools_are_served(daemon: DaemonProcess) -> bool:
    """The daemon opens many files for them in its first second."""
    reader, writer = await asyncio.open_unix_connection(daemon.socket.with_name("s-mcp.sock"))
    writer.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    answer = await reader.readline()
    writer.close()
    return b'"id":1' in answer


@contextlib.contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """A disk of its own at `path`, for a daemon's state."""
    path.mkdir()
    if not mount(path, f"size={size},mode=0711"):
        pytest.skip("this user may not mount a disk")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def fill_up(path: Path) -> None:
    """Take all the space that there is, to the last byte."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass


def mount(path: Path, options: str) -> bool:
    """Whether there is a disk in memory at `path` now, with these options."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)]
    return subprocess.run(command, capture_output=True).returncode == 0
