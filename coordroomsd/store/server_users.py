"""Whom the private server runs as. PostgreSQL refuses to run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from coordroomsd.store.errors import RunAsError, StateDirectoryError

DEFAULT_USERS: Final = ("coordrooms", "nobody")

# Asks the kernel rather than the mode bits, so that access control lists count.
_FIRST_CLOSED: Final = 'for d do cd -- "$d" 2>/dev/null || { printf %s "$d"; exit 1; }; done'


@dataclass(frozen=True, slots=True)
class ServerUser:
    """`is_other` when it is not the daemon's own user, which only root can have."""

    name: str
    uid: int
    gid: int
    is_other: bool

    def popen_arguments(self) -> dict[str, Any]:
        """For `subprocess`. `user` alone would leave the process in root's groups."""
        if not self.is_other:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Give `path` itself, not what is in it, to this user."""
        if self.is_other:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def check_reach(self, directory: Path) -> None:
        """:raises StateDirectoryError: it may not enter `directory` or one above; names which."""
        if not self.is_other:
            return
        path = [*reversed(directory.parents), directory]
        closed = self._first_closed(path)
        if closed is None:
            return
        raise StateDirectoryError(
            f"the private database runs as the user {self.name}, who may not enter {closed} "
            f"(mode {closed.stat().st_mode & 0o7777:04o}). Keep the state elsewhere with "
            f"--state-dir, as in /var/lib/coordroomsd, or let that user in: chmod o+x {closed}"
        )

    def _first_closed(self, path: Sequence[Path]) -> Path | None:
        result = subprocess.run(  # noqa: S603 - a fixed script
            ["/bin/sh", "-c", _FIRST_CLOSED, "sh", *map(str, path)],
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            **self.popen_arguments(),
        )
        return Path(result.stdout) if result.returncode else None


def server_user(run_as: str | None) -> ServerUser:
    """The user `run_as`, or the first of `DEFAULT_USERS` that exists; ourselves when not root.

    :raises RunAsError: no such user, or it is root.
    """
    if os.geteuid() != 0:
        return ServerUser(str(os.geteuid()), os.geteuid(), os.getegid(), is_other=False)
    names = [run_as] if run_as else DEFAULT_USERS
    for name in names:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid == 0:
            raise RunAsError(
                f"the private database cannot run as {name}, which is root: PostgreSQL refuses "
                "that. Name another user in [database] run_as"
            )
        return ServerUser(name, entry.pw_uid, entry.pw_gid, is_other=True)
    raise RunAsError(
        f"there is no user {' or '.join(names)} for the private database to run as. Create one "
        f"(useradd --system {names[0]}) or name another in [database] run_as"
    )
