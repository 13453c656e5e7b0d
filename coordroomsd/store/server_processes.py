"""Programs of PostgreSQL as child processes, and what PostgreSQL says about a running server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from coordroomsd.store.server_users import ServerUser

# LC_ALL and TZ decide the language of the log and what initdb writes into its configuration.
ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}

LAUNCHER: Final = Path(__file__).with_name("launcher.py")


class Child:
    """A process that a Ctrl-C in our terminal does not reach, and that ends when we do.

    Linux ends it with the thread that started it: start one from the main thread.
    `exited` has the exit code, negative for a signal. `inherited` is a descriptor that the
    process and all its own keep open.
    """

    def __init__(
        self, command: Sequence[str], *, user: ServerUser, output: int, inherited: int
    ) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = loop.create_future()
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid())]
        ids = [str(user.uid), str(user.gid)] if user.is_other else ["-1", "-1"]
        self._process = subprocess.Popen(  # noqa: S603 - our own arguments
            [*launcher, *ids, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=ENVIRONMENT,
            cwd="/",
            start_new_session=True,
            pass_fds=(inherited,),
        )
        # A thread, because uvloop's and asyncio's own subprocesses differ in what they accept,
        # and because one way of waiting serves Linux and macOS.
        self._watcher = threading.Thread(
            target=self._watch, args=(loop,), name=f"waits for {self.pid}", daemon=True
        )
        self._watcher.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return not self.exited.done()

    async def wait(self) -> int:
        """The exit code. Cancelling this leaves `exited` and other waiters alone."""
        await asyncio.wait([self.exited])
        return self.exited.result()

    async def stop(self, steps: Sequence[tuple[signal.Signals, float]]) -> None:
        """Send each signal in turn and give the process its seconds, until it is gone."""
        for number, seconds in steps:
            if not self.is_running:
                return
            self._process.send_signal(number)
            await asyncio.wait([self.exited], timeout=seconds)

    def end_now(self, number: signal.Signals, seconds: float) -> None:
        """Stop the process group and return when it is gone: for where nothing may be awaited.

        The process is killed when `number` has not ended it within `seconds`.
        """
        for sent, wait in ((number, seconds), (signal.SIGKILL, None)):
            if not self.is_running or not self._watcher.is_alive():
                return
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, sent)
            self._watcher.join(wait)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        code = self._process.wait()
        with contextlib.suppress(RuntimeError):  # The loop may be closed by now.
            loop.call_soon_threadsafe(self._note_exit, code)

    def _note_exit(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(code)


def exit_described(code: int) -> str:
    """Like "signal SIGKILL" or "exit code 1"."""
    if code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def postmaster_pid(data: Path) -> int | None:
    """The process that `postmaster.pid` names, dead or alive."""
    lines = _pid_file(data)
    try:
        return int(lines[0]) if lines else None
    except ValueError:
        return None


def is_ready(data: Path, pid: int) -> bool:
    """Whether the server `pid` takes connections, by the same line that pg_ctl goes by.

    The format is src/include/utils/pidfile.h's.
    """
    lines = _pid_file(data)
    return len(lines) >= 8 and lines[0] == str(pid) and lines[7].strip() == "ready"


def serves(pid: int, data: Path) -> bool:
    """Whether process `pid` is a living server of this data directory.

    PostgreSQL itself asks only whether the process exists, which a zombie does, and so does
    whatever got the number after a reboot.
    """
    if not Path("/proc/self").exists():
        return _serves_by_ps(pid, data)
    try:
        return os.path.samefile(f"/proc/{pid}/cwd", data)
    except PermissionError:  # A container's root may not look at another user's process.
        return str(data) in _command_line(pid)
    except OSError:  # No such process, or a zombie.
        return False


def _command_line(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


def _serves_by_ps(pid: int, data: Path) -> bool:
    shown = subprocess.run(  # noqa: S603 - a number
        ["/bin/ps", "-o", "stat=,command=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    return not shown.startswith("Z") and "postgres" in shown and str(data) in shown


def _pid_file(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []
