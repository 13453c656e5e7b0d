"""A machine of the test's own: a systemctl that keeps its state in files, and folders for units."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from coordroomsd.locations import Account
from coordroomsd.service.plans import Scope, one_user, whole_machine

_COMMAND: Final = f"""#!{sys.executable} -SE
import pathlib, sys
home = pathlib.Path(__file__).parents[1]
name = pathlib.Path(__file__).name
words = [word for word in sys.argv[1:] if word not in ("--user", "--quiet")]
with (home / "calls").open("a") as calls:
    calls.write(" ".join([name, *words]) + chr(10))
failing = home / "failing"
if failing.exists() and failing.read_text() in (name, words[0]):
    print("Job failed.", file=sys.stderr)
    # As systemctl does, which enables a unit that it then fails to start.
    if words[0] == "enable":
        (home / "enabled").touch()
    sys.exit(1)
if name == "systemctl":
    if words[0] == "is-active":
        sys.exit(0 if (home / f"active {{words[1]}}").exists() else 3)
    if words[0] == "is-enabled":
        sys.exit(0 if (home / "enabled").exists() else 1)
    if words[0] == "enable":
        (home / "enabled").touch()
        (home / "active coordroomsd.socket").touch()
    if words[0] == "disable":
        (home / "enabled").unlink(missing_ok=True)
        for unit in words[2:]:
            (home / f"active {{unit}}").unlink(missing_ok=True)
"""


class Machine:
    def __init__(self, home: Path) -> None:
        self._home = home
        self.commands = home / "bin"
        self.commands.mkdir()
        for name in ("systemctl", "systemd-sysusers", "systemd-tmpfiles"):
            command = self.commands / name
            command.write_text(_COMMAND)
            command.chmod(0o755)

    @property
    def user(self) -> Scope:
        config = str(self._home / "home/.config")
        return one_user(Account(uid=1000, environment={"XDG_CONFIG_HOME": config}))

    @property
    def system(self) -> Scope:
        return whole_machine(self._home / "root")

    @property
    def calls(self) -> list[str]:
        """What was called since the last look, but for questions."""
        log = self._home / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [line for line in lines if " is-" not in line and " show " not in line]

    @property
    def files(self) -> dict[str, str]:
        """All that is in the places of units, by name."""
        folders = (self._home / "root", self._home / "home")
        found = (path for folder in folders for path in folder.rglob("*") if path.is_file())
        return {path.name: path.read_text() for path in found}

    def let_fail(self, word: str) -> None:
        """A command by its name, or systemctl by its verb. An empty word: nothing."""
        (self._home / "failing").write_text(word)

    def is_enabled(self) -> bool:
        return (self._home / "enabled").exists()

    def is_listening(self) -> bool:
        return (self._home / "active coordroomsd.socket").exists()

    def let_run(self) -> None:
        (self._home / "active coordroomsd.service").touch()
