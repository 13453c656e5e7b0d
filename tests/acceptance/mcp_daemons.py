"""A daemon as a process, and hosts in front of it, each with a relay of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from tests.polling import until

Json = dict[str, Any]


class Daemon:
    """May be started, stopped and killed again and again on the same state."""

    def __init__(self, state_dir: Path) -> None:
        self.state_dir = state_dir
        self.socket = state_dir / "s.sock"
        self.url = f"unix:{self.socket}"
        self.tcp_url = f"http://127.0.0.1:{_free_port()}"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Return when it is ready."""
        command = [sys.executable, "-m", "coordroomsd", "serve"]
        command += ["--state-dir", str(self.state_dir), "--socket", str(self.socket)]
        command += ["--listen", self.tcp_url.removeprefix("http://")]
        with (self.state_dir / "daemon.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
        await until(self._is_ready)

    async def stop(self) -> None:
        assert await self.end(signal.SIGTERM) == 0, (self.state_dir / "daemon.log").read_text()

    async def end(self, number: signal.Signals) -> int:
        """Send it a signal that ends it; its exit code."""
        assert self._process is not None
        process, self._process = self._process, None
        process.send_signal(number)
        return await process.wait()

    async def discard(self) -> None:
        if self._process is not None and self._process.returncode is None:
            await self.stop()

    async def _is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.returncode is None, (self.state_dir / "daemon.log").read_text()
        try:
            reader, writer = await asyncio.open_unix_connection(self.socket)
        except OSError:
            return False
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        status = await reader.readline()
        writer.close()
        return b" 200 " in status


class Session:
    """One agent's session: tools called by name, their results unwrapped."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        result = await self._client.call_tool(tool, arguments)
        assert result.structured_content is not None
        assert not result.is_error, result.structured_content
        return result.structured_content["result"]

    async def failure(self, tool: str, **arguments: Any) -> Json:
        result = await self._client.call_tool(tool, arguments)
        assert result.is_error
        assert result.structured_content is not None
        return dict(result.structured_content)


@contextlib.asynccontextmanager
async def host(
    daemon: Daemon, conversation: str, mode: str = "legacy", **env: str
) -> AsyncIterator[Session]:
    """The session of `conversation` in a host that starts `coordrooms mcp`."""
    relay = StdioServerParameters(
        command=sys.executable,
        args=["-m", "coordrooms", "mcp", "--conversation", conversation],
        env=dict(os.environ) | {"COORDROOMS_URL": daemon.url} | env,
    )
    async with Client(relay, mode=mode) as client:
        await client.list_tools()
        yield Session(client)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
