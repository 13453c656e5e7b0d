"""Telling what is ours in a host's files from what is not."""

from __future__ import annotations

import re
from typing import Any

_HOOK = re.compile(r"(?:^|[\s/\\\"'])coordrooms[\"']?\s+hook\s")


def is_hook(value: Any) -> bool:
    """Whether all that a hook's entry runs is `coordrooms hook`."""
    lines = list(command_lines(value))
    return bool(lines) and all(_HOOK.search(line) for line in lines)


def has_hook(value: Any) -> bool:
    """Whether an entry runs `coordrooms hook` among other things."""
    return any(_HOOK.search(line) for line in command_lines(value))


def is_server(value: Any) -> bool:
    """Whether an MCP server's entry runs `coordrooms mcp`."""
    if not isinstance(value, dict):
        return False
    command, arguments = value.get("command"), value.get("args", [])
    words = [*(command if isinstance(command, list) else [command]), *arguments]
    names = [word.replace("\\", "/").rpartition("/")[2] for word in words if isinstance(word, str)]
    return "coordrooms" in names and "mcp" in names


def command_lines(value: Any) -> list[str]:
    """The shell lines in a hook's entry: its own, or those of its handlers."""
    if not isinstance(value, dict):
        return []
    lines = [value[name] for name in ("command", "bash") if isinstance(value.get(name), str)]
    handlers = value.get("hooks")
    if isinstance(handlers, list):
        for handler in handlers:
            lines += command_lines(handler)
    return lines
