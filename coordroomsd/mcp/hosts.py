"""How long one wait may take, by the host that calls. As of November 2026.

A host gives up on a tool call after a time of its own, mostly whatever progress it is told of, and
then the answer is lost. `clientInfo.name` says which host it is.
"""

from __future__ import annotations

from typing import Final

# Seconds, below the host's own limit: most keep the 60 s of the MCP TypeScript SDK.
UNKNOWN_HOST_S: Final = 50.0

# By the beginning of the name, without case.
LONGEST_WAIT_S: Final = {
    "claude-code": 110.0,  # at 120 s a call moves to the background
    "codex": 280.0,  # tool_timeout_sec is 300 s
    "gemini-cli": 300.0,  # 600 s; no wait is longer than 300 s
    "cursor": 50.0,  # 60 s
    "opencode": 50.0,  # 60 s
    "jetbrains": 25.0,  # 30 s polls were reported
}


def longest_wait_s(client_name: str | None) -> float:
    """For a host that gave this name, or none."""
    name = (client_name or "").casefold()
    return next(
        (limit for host, limit in LONGEST_WAIT_S.items() if name.startswith(host)), UNKNOWN_HOST_S
    )
