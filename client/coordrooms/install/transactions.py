"""Writing several files: all of them, or none.

Each is written beside its place first and then moved there, so that whoever reads it finds the old
one or the new one. When a move fails, those before it are undone.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator

from ..hooks.traces import opened
from .failures import InstallError


class Change:
    """A file as it was found and as it is to be; None is no file. `mode` is that of a new one."""

    def __init__(
        self, path: str, before: bytes | None, after: bytes | None, mode: int | None = None
    ) -> None:
        # A link stays one: what it points to is written.
        self.path = os.path.realpath(path)
        self.before = before
        self.after = after
        self.mode = mode
        self.staged: str | None = None


@contextlib.contextmanager
def exclusive() -> Iterator[None]:
    """Keep out other installations of this user until the end."""
    try:
        fd = opened("install.lock")
    except OSError as fault:
        raise InstallError(f"{fault.filename} cannot be written: {fault.strerror}.") from fault
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def make_folders(paths: list[str]) -> list[str]:
    """Make the folders that files need; those that were made, the outermost first."""
    made: list[str] = []
    try:
        for path in paths:
            missing = []
            folder = os.path.dirname(path)
            while not os.path.isdir(folder):
                missing.append(folder)
                folder = os.path.dirname(folder)
            for folder in reversed(missing):
                os.mkdir(folder)
                made.append(folder)
    except OSError as fault:
        drop_folders(made)
        raise _failure(fault.filename, fault) from fault
    return made


def drop_folders(folders: list[str]) -> None:
    """Remove those of them that are empty."""
    for folder in sorted(folders, key=len, reverse=True):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def write(changes: list[Change]) -> None:
    """Make all changes. Raises InstallError, and then none is made."""
    try:
        for change in changes:
            _stage(change)
        done: list[Change] = []
        try:
            for change in changes:
                _check_unchanged(change)
                _commit(change)
                done.append(change)
        except BaseException:
            for change in reversed(done):
                _undo(change)
            raise
    finally:
        for change in changes:
            if change.staged is not None:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(change.staged)


def _stage(change: Change) -> None:
    try:
        if change.before is not None:
            mode = os.stat(change.path).st_mode
            # Root, and whoever owns the folder, could replace it all the same.
            if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
                raise PermissionError(errno.EACCES, "it is read-only", change.path)
        if change.after is not None:
            change.staged = _written_beside(change.path, change.after, change.mode)
        elif not os.access(os.path.dirname(change.path), os.W_OK):
            raise PermissionError(errno.EACCES, "its folder is read-only", change.path)
    except OSError as fault:
        raise _failure(change.path, fault) from fault


def _written_beside(path: str, data: bytes, mode: int | None = None) -> str:
    fd, staged = tempfile.mkstemp(prefix=".coordrooms-", dir=os.path.dirname(path))
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            _take_after(path, file.fileno(), mode)
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(staged)
        raise
    return staged


def _take_after(path: str, fd: int, mode: int | None) -> None:
    """Give a file the mode and the owner of the one that it will replace."""
    try:
        known = os.stat(path)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(fd, 0o666 & ~mask if mode is None else mode)
        return
    os.fchmod(fd, stat.S_IMODE(known.st_mode))
    if (known.st_uid, known.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):
            os.fchown(fd, known.st_uid, known.st_gid)


def _check_unchanged(change: Change) -> None:
    try:
        with open(change.path, "rb") as file:
            now: bytes | None = file.read()
    except FileNotFoundError:
        now = None
    if now != change.before:
        raise InstallError(
            f"{change.path} was changed by another program meanwhile, so nothing was written. Run "
            "this again."
        )


def _commit(change: Change) -> None:
    try:
        if change.staged is None:
            os.unlink(change.path)
        else:
            os.replace(change.staged, change.path)
    except OSError as fault:
        raise _failure(change.path, fault) from fault


def _undo(change: Change) -> None:
    if change.before is None:
        os.unlink(change.path)
    else:
        os.replace(_written_beside(change.path, change.before), change.path)


def _failure(path: str, fault: OSError) -> InstallError:
    return InstallError(
        f"{path} cannot be written: {fault.strerror}. Nothing was changed. Make it writable, or "
        "put what `--dry-run` shows there by hand."
    )
