"""The MCP server as a host starts it."""

from __future__ import annotations

import json
import subprocess

from .findings import Finding

ANSWER_WITHIN_S = 10.0
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "coordrooms-doctor", "version": "1"},
}


def server_finding(subject: str, command: list[str]) -> Finding:
    """Start it, be introduced, and have it list its tools."""
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    line = " ".join(command)
    try:
        done = subprocess.run(  # noqa: S603 - the command that is registered
            command,
            input="".join(json.dumps(request) + "\n" for request in requests),
            capture_output=True,
            text=True,
            timeout=ANSWER_WITHIN_S,
        )
        answers = [json.loads(answer) for answer in done.stdout.splitlines()]
        [tools] = [answer["result"]["tools"] for answer in answers if answer.get("id") == 2]
    except (OSError, subprocess.TimeoutExpired) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it did not end in time"
        return Finding(subject, False, f"{line} cannot be run: {why}", _remedy(subject))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Finding(subject, False, f"{line} does not list its tools", _remedy(subject))
    return Finding(subject, True, f"{line} starts and lists {len(tools)} tools")


def _remedy(subject: str) -> str:
    host = subject.partition(" ")[0]
    return f"Run `coordrooms install {host}` again, from where coordrooms is installed now."
