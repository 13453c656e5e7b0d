"""A light MCP client for tests that call often: lines of JSON-RPC over the daemon's socket."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Final

from tests.http_callers import LostError

Json = dict[str, Any]

_PROTOCOL: Final = "2025-06-18"


class ToolCaller:
    """Uses tools, one at a time. In whose name is the argument `conversationId` of most of them.

    A lost connection ends the call and no more: the next one connects again.
    """

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._asked = 0

    async def list(self) -> list[Json]:
        """Raises LostError."""
        tools: list[Json] = (await self._ask("tools/list", {}))["tools"]
        return tools

    async def use(self, tool: str, **arguments: object) -> Json:
        """What the tool gives: its result, or with `code` why there is none. Raises LostError."""
        answer = await self._ask("tools/call", {"name": tool, "arguments": arguments})
        content: Json = answer["structuredContent"]
        return content if answer.get("isError") else content["result"]

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            self._streams = None

    async def _ask(self, method: str, params: Json) -> Json:
        try:
            if self._streams is None:
                await self._connect()
            return await self._exchange(method, params)
        except (OSError, EOFError) as error:
            self.close()
            raise LostError(f"{method}: {error!r}") from error
        except BaseException:  # cancelled in the middle: the next answer would be this call's
            self.close()
            raise

    async def _connect(self) -> None:
        self._streams = await asyncio.open_unix_connection(self._socket, limit=1 << 26)
        about = {"clientInfo": {"name": "tests", "version": "1"}, "capabilities": {}}
        await self._exchange("initialize", {"protocolVersion": _PROTOCOL, **about})
        self._send({"method": "notifications/initialized"})

    async def _exchange(self, method: str, params: Json) -> Json:
        assert self._streams is not None
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        while line := await self._streams[0].readline():
            answer = json.loads(line)
            if answer.get("id") == self._asked:
                result: Json = answer["result"]
                return result
        raise EOFError("the connection ended before the answer")

    def _send(self, message: Json) -> None:
        assert self._streams is not None
        self._streams[1].write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
