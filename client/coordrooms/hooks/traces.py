"""What hooks leave behind: the last firing of each session, and a log of what went wrong.

`coordrooms doctor` reads both. A session's file is locked while one of its hooks hands something
over, so that two tools that end at once do not hand the same over twice. A hook does its work
without all this where no file can be written.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time

from ..errors import ConfigurationError
from ..private_files import file_name, make_private_directory, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..hosts.facts import Host, Json

LOG_LIMIT = 262_144
# Sessions of which nothing was heard for so long are forgotten.
FORGOTTEN_AFTER_S = 30 * 86_400


_UNWRITABLE = (OSError, ConfigurationError)


class Trace:
    """The file of one session. `last` is what its latest hook noted; `locked` whether it is ours.

    A context manager that takes the lock, if nobody else has it.
    """

    def __init__(self, conversation: str) -> None:
        self._name = f"{file_name(conversation)}.json"
        self._fd = -1
        self.locked = False

    def __enter__(self) -> Trace:
        with contextlib.suppress(*_UNWRITABLE):
            self._fd = opened("sessions", self._name)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.locked = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)

    @property
    def elsewhere(self) -> bool:
        """Whether another hook of the session holds the lock just now."""
        return self._fd >= 0 and not self.locked

    def note(self, document: Json) -> None:
        if self.locked:
            with contextlib.suppress(OSError):
                _overwrite(self._fd, json.dumps(document).encode() + b"\n")

    def age_s(self) -> float:
        """The seconds since the latest hook."""
        try:
            return time.time() - os.stat(state_directory("sessions", self._name)).st_mtime
        except _UNWRITABLE:
            return 0.0

    @property
    def last(self) -> Json:
        try:
            return read_trace(state_directory("sessions", self._name))
        except ConfigurationError:
            return {}


def read_trace(path: str) -> Json:
    """What a session's file holds; empty when it cannot be read, or is being written."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def log(host: Host, event: str, sentence: str) -> None:
    """One line: in the log, and on standard error where the host keeps that to itself."""
    line = f"coordrooms hook {event} --host {host.name}: {' '.join(sentence.split())}\n"
    if not host.shows_errors:
        with contextlib.suppress(OSError):
            os.write(2, line.encode("utf-8", "backslashreplace"))
    with contextlib.suppress(*_UNWRITABLE):
        fd = opened("hooks.log", flags=os.O_APPEND)
        try:
            os.write(fd, f"{now()} {line}".encode("utf-8", "backslashreplace"))
            if os.fstat(fd).st_size > LOG_LIMIT:
                path = state_directory("hooks.log")
                os.replace(path, f"{path}.1")
        finally:
            os.close(fd)


def forget_old_sessions() -> None:
    """Remove the files of sessions that have long been silent."""
    before = time.time() - FORGOTTEN_AFTER_S
    for folder in ("sessions", "wakers"):
        with contextlib.suppress(*_UNWRITABLE), os.scandir(state_directory(folder)) as entries:
            for entry in entries:
                if entry.stat().st_mtime < before:
                    os.unlink(entry.path)


def opened(*below: str, flags: int = 0) -> int:
    """A file of ours in the state directory, open for reading and writing, made if need be.

    Raises OSError or ConfigurationError.
    """
    path = state_directory(*below)
    flags |= os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_private_directory(os.path.dirname(path))
        return os.open(path, flags, 0o600)


def _overwrite(fd: int, data: bytes) -> None:
    # The new text first: whoever reads in between finds no JSON, and takes it for no news.
    os.pwrite(fd, data, 0)
    os.ftruncate(fd, len(data))
