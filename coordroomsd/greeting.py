"""What the daemon says when it is ready: where it is, and what to type next."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from coordroomsd.config import Config
from coordroomsd.locations import Account, NoHomeError


def greeting(config: Config, account: Account | None = None) -> str:
    """Lines that can be copied into another terminal as they are."""
    command = _client()
    url = _url(config, account or Account())
    lines = [f"socket           {config.server.socket}"]
    if config.server.listen:
        lines.append(f"TCP address      {config.server.listen}")
    lines += [
        f"state directory  {config.state_dir}",
        "",
        "coordroomsd is ready. Next, in another terminal:",
        *([f"  export COORDROOMS_URL={url}"] if url else []),
        f"  {command} demo                            # two agents decide something",
        f"  {command} join kitchen --create --as me   # a room of your own",
        f"  {command} --help                          # everything else",
        "",
        "An agent's host starts its tools with:",
        f"  {_absolute()} mcp{f' --url {url}' if url else ''}",
        "",
        "Ctrl-C ends the daemon; rooms and messages stay.",
    ]
    return "\n".join(lines) + "\n"


def _url(config: Config, account: Account) -> str:
    """What clients have to be told; empty where they look by themselves."""
    try:
        if config.server.socket == account.socket(account.state_dir()):
            return ""
    except NoHomeError:  # they have none to look in either
        pass
    return shlex.quote(f"unix:{config.server.socket}")


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
