"""The sockets that the daemon listens on: made, and taken away again."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from coordroomsd.addresses import Listen

# For the daemon's user and its group; whoever may connect may speak for agents.
SOCKET_MODE = 0o660
DIRECTORY_MODE = 0o755
_PROBE_WITHIN_S = 2.0


class SocketError(Exception):
    """An address cannot be served; the message says which, why, and what to do."""


@contextlib.contextmanager
def unix_listener(path: Path, backlog: int) -> Iterator[socket.socket]:
    """A listening Unix socket, removed at the end unless somebody else has taken its path since.

    Raises SocketError when another process serves the path, or it cannot be made.
    """
    made = _make_directory(path.parent)
    identity = None
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _others_kept_waiting(path.parent):
            _remove_stale(path)
            _bind(listener, path)
            identity = _identity(path)
            listener.listen(backlog)
        listener.setblocking(False)
        yield listener
    finally:
        if identity is not None and _identity(path) == identity:
            path.unlink()
        listener.close()
        for directory in made:
            with contextlib.suppress(OSError):
                directory.rmdir()


@contextlib.contextmanager
def tcp_listener(address: Listen, backlog: int) -> Iterator[socket.socket]:
    """A listening TCP socket. Raises SocketError."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SocketError(f"cannot listen on {address}: {error.strerror or error}") from error
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(where)
        except OSError as error:
            raise SocketError(f"cannot listen on {address}: {error.strerror}") from error
        listener.listen(backlog)
        listener.setblocking(False)
        yield listener


@contextlib.contextmanager
def _others_kept_waiting(directory: Path) -> Iterator[None]:
    """Two that start at once would both find a stale socket, and the second remove the first's.

    Whoever may read the directory may lock it, so nobody is waited for longer than a start takes.
    """
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise SocketError(
            f"cannot open {directory}, where the socket is to be: {error.strerror}. Name another "
            "path with --socket"
        ) from error
    deadline = time.monotonic() + _PROBE_WITHIN_S
    try:
        while time.monotonic() < deadline:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _make_directory(directory: Path) -> list[Path]:
    """The directories that had to be made, the deepest first."""
    try:
        made = [path for path in (directory, *directory.parents) if not path.exists()]
        directory.mkdir(DIRECTORY_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise SocketError(
            f"cannot make {directory} for the socket: {error.strerror}. Name another path with "
            "--socket"
        ) from error
    return made


def _remove_stale(path: Path) -> None:
    """Remove a socket that nobody serves, as a killed daemon leaves it."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise SocketError(f"{path} is there and is no socket; name another path with --socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_WITHIN_S)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
        except FileNotFoundError:
            return
        except OSError as error:
            raise SocketError(f"cannot tell whether {path} is served: {error.strerror}") from error
        else:
            raise SocketError(
                f"another process serves {path}; stop it, or name another path with --socket"
            )


def _bind(listener: socket.socket, path: Path) -> None:
    # The mode is set by the umask at bind: a chmod afterwards would leave a moment in between.
    before = os.umask(0o777 & ~SOCKET_MODE)
    try:
        listener.bind(str(path))
    except OSError as error:
        reason = "somebody was faster" if error.errno == errno.EADDRINUSE else error.strerror
        raise SocketError(f"cannot make the socket {path}: {reason}") from error
    finally:
        os.umask(before)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
