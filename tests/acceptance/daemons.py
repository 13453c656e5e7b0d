"""The daemon as a process, in a state directory of its own."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from tests.polling import GIVE_UP_AFTER_S, block_until
from tests.postgres_servers import free_port, make_state_dir

_Daemon = TypeVar("_Daemon", bound="Daemon")


class Daemon:
    """May be started, stopped and killed again and again on the same state, with `options`."""

    def __init__(self) -> None:
        self.options: list[str] = []
        self.state_dir = make_state_dir()
        self.socket = self.state_dir / "s.sock"
        self.url = f"unix:{self.socket}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return when it is ready."""
        places = ["--state-dir", str(self.state_dir), "--socket", str(self.socket)]
        with (self.state_dir / "daemon.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "coordroomsd", "serve", *places, *self.options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={name: value for name, value in os.environ.items() if "COORDROOMS" not in name},
            )
        block_until(self._is_ready, self.log)

    def stop(self) -> None:
        """End it as a service manager does."""
        code = self.end(signal.SIGTERM)
        assert code == 0, f"exit code {code}\n{self.log()}"

    def kill(self) -> None:
        """End it as a crash does."""
        self.end(signal.SIGKILL)

    def end(self, number: signal.Signals) -> int:
        """Send it a signal that ends it; its exit code."""
        assert self.process is not None
        process, self.process = self.process, None
        process.send_signal(number)
        return process.wait(GIVE_UP_AFTER_S)

    def discard(self) -> None:
        """Leave no process and no file."""
        if self.process is not None:
            self.stop()
        shutil.rmtree(self.state_dir)

    def log(self) -> str:
        return (self.state_dir / "daemon.log").read_text()

    def _is_ready(self) -> bool:
        assert self.process is not None
        assert (code := self.process.poll()) is None, f"exit code {code}\n{self.log()}"
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(str(self.socket))
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


class TcpDaemon(Daemon):
    """At `tcp_url` too."""

    def __init__(self) -> None:
        super().__init__()
        address = f"127.0.0.1:{free_port()}"
        self.options = ["--listen", address]
        self.tcp_url = f"http://{address}"


@contextmanager
def running(daemon: _Daemon) -> Iterator[_Daemon]:
    """From started to discarded."""
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.discard()
