"""The state directory: what the private database keeps where, and who may enter.

Nothing above the directory is ever changed. The daemon's user owns it; the server's user, when
that is another, owns only what it must: the data and the place of its socket.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from coordroomsd.store.errors import StateDirectoryError
from coordroomsd.store.server_users import ServerUser

SOCKET_NAME: Final = ".s.PGSQL.5432"
# sun_path has 108 bytes on Linux and 104 on macOS, and ends in a NUL.
SOCKET_PATH_LIMIT: Final = 107 if sys.platform == "linux" else 103


class StateDirectory:
    def __init__(self, path: Path, user: ServerUser) -> None:
        self.path = path.resolve()
        self.user = user

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def unfinished_data(self) -> Path:
        """Where initdb works, so that `data` is whole from the moment it is there."""
        return self.path / "data.new"

    @property
    def binaries(self) -> Path:
        return self.path / "bin"

    @property
    def log(self) -> Path:
        return self.path / "postgres.log"

    @property
    def lock(self) -> Path:
        """Held by the daemon, with its process id inside."""
        return self.path / "lock"

    @property
    def server_lock(self) -> Path:
        """Held by every process of the database server, so also by what a daemon left behind."""
        return self.path / "server.lock"

    def prepare(self) -> None:
        """Make the directory when it is missing; make sure that the server's user can reach it.

        :raises StateDirectoryError: it cannot be made or entered; names the directory at fault.
        """
        try:
            self._make()
        except OSError as error:
            raise StateDirectoryError(
                f"cannot make the state directory {self.path}: {error.strerror}. Name another "
                "one with --state-dir"
            ) from error
        self.user.check_reach(self.path)

    def major(self) -> int | None:
        """The major version of the PostgreSQL that made the data, None before there is any.

        :raises StateDirectoryError: what is there is not a database's data.
        """
        try:
            return int((self.data / "PG_VERSION").read_text())
        except FileNotFoundError:
            if self.data.exists() and any(self.data.iterdir()):
                raise StateDirectoryError(
                    f"{self.data} is not a database's data directory, nor empty: move it away, "
                    "or name another state directory with --state-dir"
                ) from None
            return None
        except (OSError, ValueError) as error:
            raise StateDirectoryError(
                f"cannot read {self.data / 'PG_VERSION'}: {error}. Run the daemon as the user "
                "who owns that directory, or restore it from a backup"
            ) from error

    def make_unfinished_data(self) -> Path:
        self.discard_unfinished_data()
        self.unfinished_data.mkdir(mode=0o700)
        self.user.own(self.unfinished_data)
        return self.unfinished_data

    def discard_unfinished_data(self) -> None:
        shutil.rmtree(self.unfinished_data, ignore_errors=True)

    def finish_data(self) -> None:
        self.unfinished_data.rename(self.data)
        directory = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def hand_over_data(self) -> None:
        """Give the data to the server's user, for when that was another one the last time."""
        if not self.user.is_other or self.data.stat().st_uid == self.user.uid:
            return
        for directory, _, files in os.walk(self.data, topdown=False):
            for name in files:
                self.user.own(Path(directory, name))
            self.user.own(Path(directory))

    def socket_directory(self) -> Path:
        """Inside the state directory, or a short one elsewhere where that path is too long."""
        inside = self.path / "s"
        if _fits(inside):
            return inside
        digest = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]
        name = f"coordrooms-{os.geteuid()}-{digest}"
        runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
        # It is closed to all but its owner, and `su` hands on that of another.
        if runtime.is_absolute() and not self.user.is_other and _owner(runtime) == os.geteuid():
            inside = runtime / name
        return inside if _fits(inside) else Path("/tmp", name)  # noqa: S108 - checked when opened

    def clear_sockets(self) -> None:
        """Make the socket's directory, or empty it: a socket's lock file can outlive a server.

        :raises StateDirectoryError: something of somebody else is in its place.
        """
        with self._opened_socket_directory() as directory:
            for name in os.listdir(directory):
                os.unlink(name, dir_fd=directory)

    def remove_sockets(self) -> None:
        """Leave nothing of them, unless it is somebody else's."""
        if self.socket_directory().exists():
            with suppress(StateDirectoryError):
                self.clear_sockets()
                self.socket_directory().rmdir()

    def _make(self) -> None:
        missing = [path for path in (self.path, *self.path.parents) if not path.exists()]
        for path in reversed(missing):
            path.mkdir(mode=0o700)
            if self.user.is_other:
                path.chmod(0o711)
        mode = stat.S_IMODE(self.path.stat().st_mode)
        if self.user.is_other and mode & 0o011 != 0o011:
            self.path.chmod(mode | 0o011)

    @contextmanager
    def _opened_socket_directory(self) -> Iterator[int]:
        path = self.socket_directory()
        path.mkdir(mode=0o700, exist_ok=True)
        # Checked and changed by descriptor: in /tmp a path can be another thing at every look.
        try:
            directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError as error:
            raise StateDirectoryError(
                f"{path}, which the database's socket needs, is not a directory "
                f"({error.strerror}): remove it"
            ) from error
        try:
            if os.fstat(directory).st_uid not in (os.geteuid(), self.user.uid):
                raise StateDirectoryError(
                    f"{path}, which the database's socket needs, belongs to somebody else: have "
                    "it removed, or choose a shorter state directory"
                )
            if self.user.is_other:
                os.fchown(directory, self.user.uid, self.user.gid)
            os.fchmod(directory, 0o700)
            yield directory
        finally:
            os.close(directory)


def _fits(directory: Path) -> bool:
    return len(os.fsencode(directory / SOCKET_NAME)) <= SOCKET_PATH_LIMIT


def _owner(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None
