"""What the daemon says when it is ready: where it is, and what to type next."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from coordroomsd.config import Config
from coordroomsd.locations import Account


def greeting(config: Config) -> str:
    """Lines that can be copied into another terminal as they are."""
    command = _client()
    lines = [f"socket           {config.server.socket}"]
    if config.server.listen:
        lines.append(f"TCP address      {config.server.listen}")
    lines += [
        f"state directory  {config.state_dir}",
        "",
        "coordroomsd is ready. Next, in another terminal:",
        *_address(config),
        f"  {command} demo                            # two agents decide something",
        f"  {command} join kitchen --create --as me   # a room of your own",
        f"  {command} --help                          # everything else",
        "",
        "An agent's host starts its tools with:",
        f"  {_absolute()} mcp",
        "",
        "Ctrl-C ends the daemon; rooms and messages stay.",
    ]
    return "\n".join(lines) + "\n"


def _address(config: Config) -> list[str]:
    """What clients have to be told, where they would not look by themselves."""
    if config.server.socket == Account().socket(config.state_dir):
        return []
    return [f"  export COORDROOMS_URL=unix:{config.server.socket}"]


def _absolute() -> str:
    """As a host has to be told it, which starts it from anywhere."""
    beside = Path(sys.executable).with_name("coordrooms")
    return str(beside) if beside.exists() else "coordrooms"


def _client() -> str:
    """As it can be typed here: by its name where the shell finds it."""
    beside = Path(sys.executable).with_name("coordrooms")
    if not beside.exists() or shutil.which("coordrooms") == str(beside):
        return "coordrooms"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)
