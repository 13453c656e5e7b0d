"""The daemon as a process: started, told to end, killed, and started again on the same state."""

from __future__ import annotations

import asyncio
import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from coordroomsd.store.file_locks import FileLock
from coordroomsd.store.private_postgres import DATABASE, USER
from coordroomsd.store.server_processes import postmaster_pid
from coordroomsd.store.server_settings import PORT
from tests.http_callers import Caller, LostError
from tests.polling import GIVE_UP_AFTER_S, until
from tests.postgres_servers import make_state_dir

REPOSITORY: Final = Path(__file__).parents[1]

# Limits are not what is tested where everybody calls as fast as they can.
WITHOUT_LIMITS: Final = """
[limits]
message_burst = 0
body_kib_burst = 0
status_burst = 0
reaction_burst = 0
claim_burst = 0
room_burst = 0
"""


@pytest.fixture(scope="session")
def made_state() -> Iterator[Path]:
    """The state of a daemon that has nothing yet; not to be changed."""

    async def make() -> None:
        daemon = DaemonProcess(home)
        await daemon.start()
        assert await daemon.end() == 0

    home = make_state_dir()
    asyncio.run(make())
    yield home / "state"
    shutil.rmtree(home)


class DaemonProcess:
    """One daemon at a time; `start` again after `end`, `kill` or whatever else ended it.

    `home` holds its state directory, and beside that its socket, its configuration and what it
    prints. `options` are more options of `serve`; `launch` is for Popen, like the user to run as.
    `program` is what the interpreter is given to run the command; a spawn takes what it is then.
    `descriptors` is the soft limit of them that it starts with.
    """

    def __init__(
        self,
        home: Path,
        *,
        config: str = WITHOUT_LIMITS,
        options: Sequence[str] = (),
        python: str = sys.executable,
        environment: dict[str, str] | None = None,
        descriptors: int | None = None,
        **launch: Any,
    ) -> None:
        self.state_dir = home / "state"
        self.socket = home / "s.sock"
        self.log = home / "daemon.log"
        self.program: Sequence[str] = ("-m", "coordroomsd")
        self._config = home / "config.toml"
        self._config.write_text(config)
        self._options = options
        self._python = python
        self._environment = environment or {"PATH": os.environ["PATH"]}
        self._descriptors = descriptors
        self._launch = launch
        self._process: subprocess.Popen[bytes] | None = None
        self.callers: list[Caller] = []

    @property
    def data(self) -> Path:
        return self.state_dir / "data"

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "the daemon was not started"
        return self._process

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def begin_with(self, made_state: Path) -> None:
        """Start from a copy: making the data anew takes a second."""
        self.state_dir.mkdir(exist_ok=True)
        subprocess.run(["cp", "-a", f"{made_state}/.", self.state_dir], check=True)

    def configure(self, config: str) -> None:
        """For the next start or reload."""
        self._config.write_text(config)

    def spawn(self, terminal: int | None = None) -> None:
        """In a session of its own, with that terminal if there is one."""

        def begin() -> None:
            if terminal is not None:
                fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
            if self._descriptors is not None:
                _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
                resource.setrlimit(resource.RLIMIT_NOFILE, (self._descriptors, most))

        serve = [self._python, *self.program, "serve", "--config", str(self._config)]
        serve += ["--state-dir", str(self.state_dir), "--socket", str(self.socket)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*serve, *self._options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=REPOSITORY,
                env=self._environment,
                start_new_session=True,
                preexec_fn=begin,
                **self._launch,
            )

    async def start(self) -> None:
        """Return when it serves."""
        self.spawn()
        await self.ready()

    async def ready(self) -> None:
        await until(self._serves)

    def caller(self, name: str | None = None) -> Caller:
        """Somebody who calls this daemon, until it is discarded."""
        self.callers.append(Caller(self.socket, name))
        return self.callers[-1]

    def kill(self) -> None:
        """As a crash ends it."""
        self.process.kill()
        self.process.wait()

    async def end(self, number: signal.Signals = signal.SIGTERM, *, group: bool = False) -> int:
        """Send a signal, to the whole group as a terminal does; the exit code."""
        os.killpg(self.pid, number) if group else self.process.send_signal(number)
        return await self.exit_code()

    async def exit_code(self) -> int:
        return await asyncio.to_thread(self.process.wait, GIVE_UP_AFTER_S)

    async def discard(self) -> None:
        """For the end: nothing of it runs on. Prints the log, which pytest shows on failure."""
        for caller in self.callers:
            caller.close()
        if self._process is not None:
            self.kill()
            await until(self.no_server_runs)
            print(self.read_log())

    def no_server_runs(self) -> bool:
        """Each process of a private server, and of the making of its data, holds this lock."""
        path = self.state_dir / "server.lock"
        if not path.exists():
            return True
        with FileLock(path) as lock:
            return lock.acquire()

    def read_log(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    def server_pid(self) -> int | None:
        """The private server's first process, dead or alive."""
        return postmaster_pid(self.data)

    def server_address(self) -> dict[str, Any]:
        """For `asyncpg.connect`, while the private server runs."""
        sockets = str(self.state_dir / "s")
        return {"host": sockets, "port": PORT, "user": USER, "database": DATABASE}

    async def _serves(self) -> bool:
        assert self.is_running, f"the daemon has ended:\n{self.read_log()}"
        caller = Caller(self.socket)
        try:
            return (await caller.call("GET", "/readyz", base="")).status == 200
        except LostError:
            return False
        finally:
            caller.close()
