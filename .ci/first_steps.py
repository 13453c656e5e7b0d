"""The README's promise, kept in a fresh clone: `make run`, two agents that talk, Ctrl-C.

    python3 .ci/first_steps.py          # in the clone, as the user who made it

Ends with 0 when the daemon came up, `coordrooms demo` went well, and Ctrl-C in the terminal of
`make run` left only data behind and no complaint.
"""

import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

READY_WITHIN_S = 300  # an installation without any cache
STOPPED_WITHIN_S = 30


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="coordrooms-", dir="/tmp") as folder:
        Path(folder).chmod(0o711)
        state = Path(folder, "state")
        socket = Path(folder, "s.sock")
        daemon = Terminal(["make", "run", f"ARGS=--state-dir {state} --socket {socket}"])
        try:
            daemon.read_until(lambda: socket.exists(), READY_WITHIN_S)
            environment = os.environ | {"COORDROOMS_URL": f"unix:{socket}"}
            subprocess.run([".venv/bin/coordrooms", "demo"], env=environment, check=True)
        finally:
            daemon.type("\x03")
            daemon.read_until(daemon.has_ended, STOPPED_WITHIN_S)
            print(daemon.text)
        assert "make:" not in daemon.text, "make complains after Ctrl-C"
        assert "Traceback" not in daemon.text, "the daemon complains after Ctrl-C"
        assert str(socket) in daemon.text, "the daemon does not say where its socket is"
        assert str(state) in daemon.text, "the daemon does not say where its state is"
        assert [path.name for path in Path(folder).iterdir()] == ["state"], "a socket is left"
    return 0


class Terminal:
    """A command in a terminal of its own, so that Ctrl-C reaches it as it does a user's."""

    def __init__(self, command: list[str]) -> None:
        self.text = ""
        self._ended = False
        self._pid, self._screen = pty.fork()
        if self._pid == 0:
            os.execvp(command[0], command)

    def type(self, keys: str) -> None:
        if not self._ended:
            os.write(self._screen, keys.encode())

    def has_ended(self) -> bool:
        return self._ended

    def read_until(self, reached: Callable[[], bool], within_s: float) -> None:
        deadline = time.monotonic() + within_s
        while not reached():
            assert not self._ended, f"it ended:\n{self.text}"
            assert time.monotonic() < deadline, f"nothing within {within_s} s:\n{self.text}"
            if select.select([self._screen], [], [], 0.1)[0]:
                self._read()

    def _read(self) -> None:
        try:
            data = os.read(self._screen, 65536)
        except OSError:  # Linux ends a terminal without programs with EIO
            data = b""
        self.text += data.decode(errors="replace")
        if not data:
            self._ended = True
            os.waitpid(self._pid, 0)


if __name__ == "__main__":
    sys.exit(main())
