"""A process that held a token and crashes leaves no image of its memory."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.processes import account, daemon, home, make
from tests.daemon_processes import DaemonProcess, made_state

__all__ = ["account", "daemon", "home", "made_state", "make"]


@pytest.fixture(autouse=True)
def dumps_are_allowed() -> Iterator[None]:
    """Where they are not already, so that a process of ours has to say no itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if hard == 0:
        pytest.skip("nothing on this machine may dump its core")
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def largest_dump(pid: int) -> str:
    limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
    [line] = [line for line in limits if line.startswith("Max core file size")]
    return line.split()[4]


async def test_the_daemon_s(daemon: DaemonProcess) -> None:
    assert largest_dump(os.getpid()) != "0"
    assert largest_dump(daemon.pid) == "0"


@pytest.mark.parametrize("command", ["mcp", "tail"])
async def test_a_command_s(command: str, tmp_path: Path) -> None:
    """Seen while it waits for a daemon, or a host, that says nothing."""
    address = tmp_path / "silent.sock"

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        called.set()
        await reader.read()
        writer.close()

    called = asyncio.Event()
    async with await asyncio.start_unix_server(silent, address):
        arguments = {"mcp": [], "tail": ["kitchen", "--as", "me"]}[command]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "coordrooms", command, *arguments),
            env={**os.environ, "COORDROOMS_URL": f"unix:{address}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin
        if command == "mcp":
            process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            assert process.stdout
            await process.stdout.readline()
        else:
            await called.wait()
        limit = largest_dump(process.pid)
        process.kill()
        await process.wait()
        assert limit == "0"
