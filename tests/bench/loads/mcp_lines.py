"""Lines of an MCP host, as its session begins and when it calls tools."""

from __future__ import annotations

import json
from typing import Any


def _line(method: str, params: Any = None, number: int | None = None) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        message["id"] = number
    if params is not None:
        message["params"] = params
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


INITIALIZE = _line(
    "initialize",
    {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
    0,
)
INITIALIZED = _line("notifications/initialized")
LIST = _line("tools/list", {}, 0)


def hello(conversation: str) -> bytes:
    """The line by which a relay names its session on the daemon's MCP socket."""
    return json.dumps({"coordrooms": 1, "conversation": conversation}).encode() + b"\n"


def call(number: int, tool: str, **arguments: Any) -> bytes:
    return _line("tools/call", {"name": tool, "arguments": arguments}, number)
