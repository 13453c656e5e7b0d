"""Daemons of tests, as processes and under either account."""

from __future__ import annotations

import asyncio
import functools
import os
import pwd
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

SCRIPT: Final = Path(__file__).with_name("postgres_keeper.py")
REPOSITORY: Final = Path(__file__).parents[2]


@dataclass(frozen=True)
class Account:
    """Whom a keeper runs as, and an interpreter that this user can run."""

    uid: int
    gid: int
    python: str

    def popen_arguments(self) -> dict[str, Any]:
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, directory: Path) -> None:
        for path in (directory, *directory.rglob("*")):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def environment(self) -> dict[str, str]:
        paths = (str(REPOSITORY), str(Path(asyncpg.__file__).parents[1]))
        return {"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(paths)}


def ourselves() -> Account:
    return Account(os.geteuid(), os.getegid(), sys.executable)


@functools.cache
def ordinary_user() -> Account:
    """Skips the test when we are one, or when such a user cannot run this program."""
    if os.geteuid() != 0:
        pytest.skip("this account is an ordinary user already")
    entry = pwd.getpwnam("nobody")
    for python in (sys.executable, "/usr/bin/python3"):
        account = Account(entry.pw_uid, entry.pw_gid, python)
        try:
            subprocess.run(
                [python, "-c", "import coordroomsd.store.private_postgres"],
                check=True,
                capture_output=True,
                env=account.environment(),
                **account.popen_arguments(),
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        return account
    pytest.skip("an ordinary user can read neither this interpreter nor this directory")


class Keeper:
    """A process of `postgres_keeper.py`, in a process group of its own."""

    def __init__(
        self, account: Account, state_dir: Path, *, launcher: Path | None = None, within: str = ""
    ) -> None:
        """`within` is a command to run it by, like `unshare --pid`."""
        arguments = [str(SCRIPT), str(state_dir), *([str(launcher)] if launcher else [])]
        self.process = subprocess.Popen(
            [*within.split(), account.python, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env=account.environment(),
            start_new_session=True,
            **account.popen_arguments(),
        )

    async def first_line(self) -> str:
        assert self.process.stdout is not None
        line: str = await asyncio.to_thread(self.process.stdout.readline)
        return line.strip()

    async def ready(self) -> int:
        """The server's process id, as soon as it takes connections."""
        line = await self.first_line()
        word, _, pid = line.partition(" ")
        assert word == "ready", line
        return int(pid)

    def kill(self) -> None:
        self.process.kill()

    async def exit_code(self) -> int:
        return await asyncio.to_thread(self.process.wait)

    def discard(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
