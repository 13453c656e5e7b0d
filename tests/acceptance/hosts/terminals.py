"""A program in a terminal of its own, which answers what terminals are asked."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import threading
from pathlib import Path

# What programs ask of a terminal before they begin: where its cursor is, and what it can do.
ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?1;2c"}
ENDS_WITHIN_S = 20.0


class Terminal:
    """Runs for the time of a `with`; all that it shows is in `screen`."""

    def __init__(self, command: list[str], cwd: Path, env: dict[str, str]) -> None:
        self.screen = b""
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.chdir(cwd)
            os.execve(command[0], command, env)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Terminal:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._pid, signal.SIGTERM)
        self._thread.join(ENDS_WITHIN_S)
        if self._thread.is_alive():
            os.kill(self._pid, signal.SIGKILL)
            self._thread.join()
        os.waitpid(self._pid, 0)
        os.close(self._fd)

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._fd, 65536)
            except OSError:  # Linux ends a terminal without programs with EIO
                return
            if not data:
                return
            self.screen += data
            for question, answer in ANSWERS.items():
                if question in data and select.select([], [self._fd], [], 0)[1]:
                    os.write(self._fd, answer)
