"""A lock that a process and its children hold by an open file, and lose only by ending."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self


class FileLock:
    """flock(2) on `path`, which is made when it is missing, unless `make` is false.

    It belongs to the open file: a child that inherits `descriptor` holds it too, until the last
    of them has ended. It holds between containers that share the directory, where process ids
    say nothing.
    """

    def __init__(self, path: Path, *, make: bool = True) -> None:
        """:raises FileNotFoundError: there is none, and none is to be made."""
        self._path = path
        self._making = os.O_CREAT if make else 0
        self.descriptor = -1
        self._open()

    def acquire(self) -> bool:
        """Whether the lock is ours now; waits for nobody."""
        while True:
            try:
                fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            if self._is_in_place():
                return True
            # Its holder removed the file after we had opened it.
            self._open()

    def read_note(self) -> str:
        """What the holder wrote."""
        return os.pread(self.descriptor, 200, 0).decode(errors="replace").strip()

    def write_note(self, text: str) -> None:
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, text.encode(), 0)

    def remove(self) -> None:
        """Take the file away and let go; for whoever holds the lock."""
        self._path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Let go, unless a child has it too; harmless when done already."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self) -> None:
        self.close()
        self.descriptor = os.open(self._path, os.O_RDWR | self._making | os.O_CLOEXEC, 0o600)

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self.descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False
