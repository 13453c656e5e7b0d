"""What a service manager does for a socket-activated daemon, where there is no manager."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final, Self

from tests.daemon_processes import WITHOUT_LIMITS
from tests.polling import GIVE_UP_AFTER_S, block_until

DAEMON: Final = Path(sys.executable).with_name("coordroomsd")

# Sockets from descriptor 3 on, told to the process that execs.
_HAND_OVER: Final = """
import os, sys
descriptors = [int(number) for number in sys.argv[1].split(",")]
# Moved out of the way first: none may be overwritten on its way to 3.
high = [os.dup2(number, 50 + place) for place, number in enumerate(descriptors)]
for place, number in enumerate(high, 3):
    os.dup2(number, place)
os.environ |= {"LISTEN_FDS": str(len(high)), "LISTEN_PID": str(os.getpid())}
os.environ["NOTIFY_SOCKET"] = sys.argv[2]
os.execv(sys.argv[3], sys.argv[3:])
"""


class SocketUnit:
    """The sockets of a daemon whose state is `home`/state; they outlive each daemon."""

    def __init__(self, home: Path, *, mcp: str = "d-mcp.sock") -> None:
        self.api = home / "d.sock"
        self.mcp = home / mcp
        self.url = f"unix:{self.api}"
        self._home = home
        self._notify = home / "notify"
        (home / "config.toml").write_text(WITHOUT_LIMITS)
        self._listeners = [_listening(path) for path in (self.api, self.mcp)]
        self._heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._heard.bind(str(self._notify))
        self._heard.settimeout(0)
        self._daemon: subprocess.Popen[bytes] | None = None

    def spawn(self) -> subprocess.Popen[bytes]:
        descriptors = [listener.fileno() for listener in self._listeners]
        serve: list[str | Path] = [DAEMON, "serve", "--config", self._home / "config.toml"]
        serve += ["--state-dir", self._home / "state", "--socket", self.api]
        hand_over = [sys.executable, "-c", _HAND_OVER, ",".join(map(str, descriptors))]
        with (self._home / "daemon.log").open("ab") as log:
            self._daemon = subprocess.Popen(
                [*hand_over, self._notify, *serve],
                pass_fds=descriptors,
                stdout=log,
                stderr=log,
            )
        return self._daemon

    def start(self) -> None:
        """Return when the daemon says that it is ready."""
        daemon = self.spawn()

        def is_ready() -> bool:
            assert daemon.poll() is None, self.log()
            try:
                return self._heard.recv(4096).startswith(b"READY=1")
            except BlockingIOError:
                return False

        block_until(is_ready, self.log)

    def stop(self) -> None:
        assert self._daemon is not None
        daemon, self._daemon = self._daemon, None
        daemon.terminate()
        assert daemon.wait(GIVE_UP_AFTER_S) == 0, self.log()

    async def restart(self) -> None:
        await asyncio.to_thread(self.stop)
        await asyncio.to_thread(self.start)

    def log(self) -> str:
        return (self._home / "daemon.log").read_text()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._daemon is not None and self._daemon.poll() is None:
            self.stop()
        for opened in (*self._listeners, self._heard):
            opened.close()


def _listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(4096)
    return listener
