"""A session of MCP over HTTP."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.callers import Caller, Json, Reply


class Session:
    """Opened by one caller, and used by others."""

    def __init__(self, opener: Caller) -> None:
        self._headers = {"Accept": "application/json, text/event-stream"}
        client = {"name": "a test", "version": "1"}
        greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        reply = self.ask(opener, "initialize", greeting)
        [self.id] = [v for name, v in reply.headers.items() if name.lower() == "mcp-session-id"]
        self._headers["Mcp-Session-Id"] = self.id

    def ask(self, caller: Caller, method: str, parameters: Json) -> Reply:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        return caller.call("POST", "/mcp", message, base="", headers=self._headers)

    def reply(self, caller: Caller, tool: str, **arguments: Any) -> Reply:
        return self.ask(caller, "tools/call", {"name": tool, "arguments": arguments})

    def result(self, caller: Caller, tool: str, **arguments: Any) -> Json:
        """Of a tool; `code` is there when it was refused."""
        reply = self.reply(caller, tool, **arguments)
        assert reply.status == 200, reply.content
        text = reply.content.decode()
        lines = [line[5:] for line in text.splitlines() if line.startswith("data:")]
        result: Json = json.loads(lines[-1] if lines else text)["result"]["structuredContent"]
        return result
