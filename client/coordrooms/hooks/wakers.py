"""The background half: waits in the daemon while a session is idle, and wakes it for news.

One for each session, while its host lives. It only says that there is something; a hook of the
turn that begins then hands it over. Each unread batch wakes once: what it was is noted in the lock
file, so that a later waker does not wake for the same again.

    claude      the host runs it (asyncRewake), and wakes the model when it ends with 2
    codex       the hook of Stop starts it apart; it says `codex queue`
    opencode    the plugin runs it, and reads what it prints
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import time

from ..hosts.facts import STOP
from ..private_files import file_name
from .contexts import hint_text
from .daemons import UNREAD, AwayError, Daemon, RefusedError
from .traces import Trace, log, opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..hosts.facts import Host, Json

WAIT_S = 240
# Between looks at a session that works.
LOOK_AGAIN_S = 1.0
# Between tries while the daemon is away, the longest of a growing series.
LONGEST_PAUSE_S = 30.0
# A turn that its user broke off ends without a word. After so long without a hook it is over.
BUSY_AT_MOST_S = 600
WOKEN = 2

# Not with the working directory, which is the project's, as a place to import from.
PYTHON = (sys.executable, "-P")
SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "fish", "busybox"}


class HostGoneError(Exception):
    """The host has ended, and with it whoever could be woken."""


def keep_watch(host: Host, session: str, conversation: str, options: dict[str, str]) -> int:
    """Wait for news and wake the session, once. Returns the exit code."""
    if not host.attended(os.environ):
        return 0
    with Lock(conversation) as lock:
        if not lock.held:
            return 0  # there is one already
        try:
            watched = (
                Process(int(options["--watch"])) if "--watch" in options else host_process(host)
            )
            with Daemon(conversation, options.get("--url"), host.wake) as daemon:
                unread = _news(daemon, _idleness(host, conversation), watched, lock)
        except HostGoneError:
            return 0
        except RefusedError as fault:
            log(host, "wake", str(fault))
            return 0
        if not unread:
            return 0
        lock.note_woken(unread)
        return _wake(host, session, watched, hint_text(unread))


def start_watch(host: Host, session: str, conversation: str, options: dict[str, str]) -> None:
    """Run `keep_watch` in a process of its own, which outlives this hook, unless one runs."""
    with Lock(conversation) as lock:
        if not lock.held:
            return
    try:
        watch = ["--watch", str(host_process(host).pid)]
    except HostGoneError:
        return
    url = ["--url", options["--url"]] if "--url" in options else []
    words = ["hook", "wake", "--host", host.name, "--session", session, *url]
    if os.fork():
        return
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nothing, fd)
        os.execv(PYTHON[0], [*PYTHON, "-m", "coordrooms", *words, *watch])  # noqa: S606
    finally:
        os._exit(0)


def _news(daemon: Daemon, idle: Callable[[], bool], watched: Process, lock: Lock) -> list[Json]:
    """What is unread once the session is idle; nothing when it is in no room."""
    pause_s = LOOK_AGAIN_S
    while True:
        try:
            unread: list[Json] = daemon.get(UNREAD)["unread"]
            pause_s = LOOK_AGAIN_S
            if not unread or (lock.is_new(unread) and idle()):
                return unread
            if any(portion["messages"] for portion in unread):
                # The session's own hooks are about to hand this over, or it was woken for it.
                time.sleep(LOOK_AGAIN_S)
                watched.check()
                continue
            # From the durable cursors: a number of ours would pass for proof that the agent has
            # what came before it.
            cursors = {portion["room"]: None for portion in unread}
            body = {"cursors": cursors, "timeout_s": WAIT_S}
            daemon.post("/wait", body, within_s=WAIT_S + 10, pulse=watched.check)
        except RefusedError as refused:
            # It left the room while it waited: the next look says what there is to wait for.
            if refused.code not in ("active_membership_not_found", "membership_not_found"):
                raise
        except AwayError:
            time.sleep(pause_s)
            pause_s = min(LONGEST_PAUSE_S, pause_s * 2)
            watched.check()


def _idleness(host: Host, conversation: str) -> Callable[[], bool]:
    """Tells whether the session is idle just now."""
    if host.event(STOP) is None:
        return lambda: True  # whoever runs the waker ends it when a turn begins
    trace = Trace(conversation)
    return lambda: bool(trace.last.get("idle")) or trace.age_s() > BUSY_AT_MOST_S


def _wake(host: Host, session: str, watched: Process, hint: str) -> int:
    match host.waker:
        case "rewaken":
            os.write(2, f"{hint}\n".encode())
            return WOKEN
        case "queued":
            import subprocess

            command = [watched.program(host.program), "queue", "--thread", session]
            done = subprocess.run(  # noqa: S603
                [*command, "--message", hint], stdin=subprocess.DEVNULL, capture_output=True
            )
            if done.returncode:
                log(host, "wake", f"codex queue failed: {done.stderr.decode(errors='replace')}")
        case _:
            os.write(1, json.dumps({"text": hint}).encode() + b"\n")
    return 0


class Lock:
    """Held by the one waker of a session. Its file names what it last woke for."""

    def __init__(self, conversation: str) -> None:
        self._name = f"{file_name(conversation)}.json"
        self._fd = -1
        self.held = False

    def __enter__(self) -> Lock:
        self._fd = opened("wakers", self._name)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.held = True
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def is_new(self, unread: list[Json]) -> bool:
        """Whether there is a message that nobody was woken for."""
        woken = self._woken()
        return any(
            message["seq"] > woken.get(_place(portion), 0)
            for portion in unread
            for message in portion["messages"]
        )

    def note_woken(self, unread: list[Json]) -> None:
        woken = self._woken()
        for portion in unread:
            if portion["messages"]:
                woken[_place(portion)] = portion["messages"][-1]["seq"]
        data = json.dumps(woken).encode()
        os.pwrite(self._fd, data, 0)
        os.ftruncate(self._fd, len(data))

    def _woken(self) -> dict[str, int]:
        try:
            woken = json.loads(os.pread(self._fd, 65_536, 0))
        except ValueError:
            return {}
        return woken if isinstance(woken, dict) else {}


def _place(portion: Json) -> str:
    """A room in one life of the database: another one gives its numbers again."""
    return f"{portion['room']}@{portion['generation']}"


class Process:
    """A process that is watched; another one that gets its number later is not it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._started = _stat(pid)[1]

    def check(self) -> None:
        """Raises HostGoneError when it has ended."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            raise HostGoneError from None
        except PermissionError:
            return
        if _stat(self.pid)[1] != self._started:
            raise HostGoneError

    def program(self, usual: str) -> str:
        """The path of its program, where that is called `usual`; else that name."""
        try:
            path = os.readlink(f"/proc/{self.pid}/exe")
        except OSError:
            return usual
        return path if os.path.basename(path) == usual else usual


def host_process(host: Host) -> Process:
    """The process that this hook runs for: the nearest above it that is no shell.

    Raises HostGoneError when that has ended already, and left us to the first process.
    """
    pid = os.getppid()
    while _stat(pid)[0] in SHELLS:
        pid = int(_fields(pid)[1])
    if pid <= 1 and _stat(pid)[0] != host.program:
        raise HostGoneError
    return Process(pid)


def _stat(pid: int) -> tuple[str, str]:
    """A process's name and the time it began, as far as they can be known."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            name = file.read().strip()
        return name, _fields(pid)[19]
    except OSError:
        return "", ""


def _fields(pid: int) -> list[str]:
    """Of proc_pid_stat(5), those behind the name: the state is the first, the parent the next."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()
