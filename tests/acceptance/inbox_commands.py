"""Commands that have an inbox, as processes with a home of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.polling import GIVE_UP_AFTER_S

COMMAND = [sys.executable, "-m", "coordrooms"]


class Commands:
    """Runs commands as one participant who has a home directory of its own."""

    def __init__(self, home: Path, url: str, conversation: str) -> None:
        self.url = url
        self.conversation = conversation
        self.home = home
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self._environment = kept | {
            "COORDROOMS_URL": url,
            "COORDROOMS_CONVERSATION": conversation,
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
        }

    def run(self, *arguments: str, code: int = 0, stdin: str = "") -> str:
        """What a command prints, whose exit code must be `code`; of one that fails, its error."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            env=self._environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=GIVE_UP_AFTER_S,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr if code else done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*COMMAND, *arguments],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )

    def inbox(self, *options: str) -> list[dict[str, Any]]:
        """The messages that `coordrooms inbox` lists."""
        rows: list[dict[str, Any]] = json.loads(self.run("inbox", "--json", *options))["messages"]
        return rows

    def stored(self) -> list[tuple[str, int, str]]:
        """All messages of the inbox: conversation, number, text."""
        return [
            (row["conversation"], row["message"]["seq"], row["message"]["body"])
            for row in self.inbox("--all")
        ]
