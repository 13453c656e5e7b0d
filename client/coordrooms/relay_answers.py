"""What the relay says by itself: JSON-RPC messages of the Model Context Protocol, and failures.

A host starts one relay for each agent session, whether or not a daemon runs, and gives up on a
server that does not introduce itself in time. So the introduction and the list of tools come
from here, always, and only calls go to the daemon. The list is the daemon's own file.

Standard library only, and little of it: see `relay.py`.
"""

from __future__ import annotations

import json
import os
from typing import Any

from . import __version__

Message = dict[str, Any]

# Sources: https://modelcontextprotocol.io/specification/versioning; JSON-RPC 2.0, section 5.1.
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
CLIENT_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022

SERVER_INFO = {"name": "coordrooms", "version": __version__}
CAPABILITIES = {"tools": {"listChanged": False}}


def encoded(message: Message) -> bytes:
    """One line, as both sides exchange them; ASCII, so that any string of a host survives it."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def parsed(line: bytes) -> Message:
    """The message that a line holds. Raises ValueError when it is no JSON object."""
    try:
        message = json.loads(line.decode())
    except (ValueError, RecursionError) as fault:
        raise ValueError(f"The line is not JSON in UTF-8: {fault}.") from fault
    if not isinstance(message, dict):
        raise ValueError("A line holds one JSON-RPC message, an object; batches are not served.")
    return message


def error(request_id: object, code: int, text: str, data: object = None) -> Message:
    """A JSON-RPC error."""
    details = {"code": code, "message": text}
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "error": details if data is None else {**details, "data": data},
    }


def is_modern(message: Message) -> bool:
    """Whether a request is of the era without a handshake, in which each names its version."""
    return VERSION_KEY in _meta(message)


def local_answer(message: Message) -> Message | None:
    """The answer to a request that needs no daemon; None for every other request."""
    match message["method"]:
        case "initialize":
            return _introduction(message)
        case "ping" if not is_modern(message):
            return _result(message, {})
        case "server/discover" if is_modern(message):
            return _result(
                message,
                {
                    "supportedVersions": list(MODERN_VERSIONS),
                    "capabilities": CAPABILITIES,
                    "instructions": _catalogue()["instructions"],
                },
                cacheable=True,
            )
        case "tools/list":
            return _result(message, {"tools": _catalogue()["tools"]}, cacheable=True)
    return None


def failure(message: Message, code: str, text: str, recovery: str) -> Message:
    """The failure of a request that the daemon could not be asked, or did not answer.

    For a tool it is a result that the agent reads; for anything else an error that its host reads.
    """
    if message["method"] != "tools/call":
        return error(message["id"], INTERNAL_ERROR, f"{text} {recovery}", {"code": code})
    body = {"code": code, "message": text, "recovery": recovery}
    content = [{"type": "text", "text": json.dumps(body, ensure_ascii=False)}]
    return _result(message, {"content": content, "structuredContent": body, "isError": True})


def _introduction(message: Message) -> Message:
    match message.get("params"):
        case {"protocolVersion": str(version), "clientInfo": {"name": str(), "version": str()}}:
            pass
        case _:
            return error(
                message["id"],
                INVALID_PARAMS,
                "initialize needs protocolVersion and clientInfo with a name and a version.",
            )
    return _result(
        message,
        {
            "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER_INFO,
            "instructions": _catalogue()["instructions"],
        },
    )


def _result(message: Message, body: Message, *, cacheable: bool = False) -> Message:
    answer: Message = {"jsonrpc": "2.0", "id": message["id"], "result": body}
    if not is_modern(message) or message["method"] == "initialize":
        return answer
    version = _meta(message)[VERSION_KEY]
    if version not in MODERN_VERSIONS:
        supported = {"supported": list(MODERN_VERSIONS), "requested": version}
        return error(message["id"], UNSUPPORTED_VERSION, "Unsupported protocol version", supported)
    hints = {"ttlMs": 0, "cacheScope": "private"} if cacheable else {}
    stamp = {"resultType": "complete", "_meta": {SERVER_INFO_KEY: SERVER_INFO}}
    return {**answer, "result": {**body, **hints, **stamp}}


def _meta(message: Message) -> Message:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _catalogue() -> Message:
    # Read when asked for: once in the life of most sessions.
    with open(os.path.join(os.path.dirname(__file__), "tools.json"), encoding="utf-8") as file:
        catalogue: Message = json.load(file)
    return catalogue
