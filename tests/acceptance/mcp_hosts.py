"""Hosts in front of a daemon, each with a relay of its own."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

from mcp import Client, StdioServerParameters

from tests.acceptance.daemons import Daemon

Json = dict[str, Any]


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
