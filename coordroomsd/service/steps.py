"""Changes to this machine that are made one after the other: all of them, or none."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from coordroomsd.service.errors import ServiceError

_FILE_MODE: Final = 0o644
# Starting a unit waits for what it needs; stopping the daemon has 30 s by its unit.
_COMMAND_WITHIN_S: Final = 120


class Step(Protocol):
    @property
    def shown(self) -> str: ...

    def do(self) -> None:
        """Raises ServiceError or OSError."""

    def undo(self) -> None:
        """Also what was done by half. Raises the same."""


@dataclass
class File:
    """A file as it was found and as it is to be; None is no file."""

    path: Path
    before: str | None
    after: str | None
    _made: list[Path] = field(default_factory=list)
    _is_ours: bool = False

    @property
    def shown(self) -> str:
        if self.after is None:
            return f"remove {self.path}"
        return f"{'write' if self.before is None else 'replace'} {self.path}"

    def do(self) -> None:
        if _read(self.path) != self.before:
            raise ServiceError(f"{self.path} has changed meanwhile; try again")
        self._is_ours = True
        if self.after is not None:
            _make_folders(self.path.parent, self._made)
        _put(self.path, self.after)

    def undo(self) -> None:
        if not self._is_ours:
            return
        if _read(self.path) != self.before:
            _put(self.path, self.before)
        for folder in self._made:
            with contextlib.suppress(OSError):
                folder.rmdir()


@dataclass(frozen=True)
class Command:
    words: Sequence[str]
    undone_by: Sequence[str] = ()

    @property
    def shown(self) -> str:
        return f"run {shlex.join(self.words)}"

    def do(self) -> None:
        run(self.words)

    def undo(self) -> None:
        if self.undone_by:
            run(self.undone_by)


@dataclass(frozen=True)
class EmptyFolder:
    """A directory that goes when nothing is in it."""

    path: Path

    @property
    def shown(self) -> str:
        return f"remove {self.path}, unless something of others' is in it"

    def do(self) -> None:
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def undo(self) -> None:
        """What needs it makes it."""


def carry_out(steps: Sequence[Step], afterwards: Sequence[str]) -> None:
    """Do them in order. When one fails, undo it and those before it, and run `afterwards`.

    Raises ServiceError, or what interrupted it.
    """
    begun: list[Step] = []
    try:
        for step in steps:
            begun.append(step)
            step.do()
    except BaseException as error:
        left = [complaint for step in reversed(begun) if (complaint := _undone(step))]
        if afterwards:
            with contextlib.suppress(ServiceError):
                run(afterwards)
        if not isinstance(error, ServiceError | OSError):
            raise
        rest = f"; but it was not possible to {'; '.join(left)}" if left else ""
        raise ServiceError(f"{_reason(error)}. Everything was put back as it was{rest}") from error


def run(words: Sequence[str]) -> None:
    """Raises ServiceError with what the command said."""
    try:
        done = subprocess.run(  # noqa: S603 (no shell, and words of our own)
            list(words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_COMMAND_WITHIN_S,
            check=False,
        )
    except FileNotFoundError:
        raise ServiceError(f"there is no command {words[0]} here: is this systemd?") from None
    except subprocess.TimeoutExpired:
        raise ServiceError(f"{shlex.join(words)} has not ended for {_COMMAND_WITHIN_S} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        raise ServiceError(f"{shlex.join(words)} failed: {said}")


def _undone(step: Step) -> str | None:
    """What could not be undone."""
    try:
        step.undo()
    except (ServiceError, OSError) as error:
        return f"undo “{step.shown}” ({_reason(error)})"
    return None


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'} cannot be written: {error.strerror}"
    return str(error).rstrip(".")


def read(path: Path) -> str | None:
    """Raises ServiceError for what is there and cannot be read."""
    try:
        return _read(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ServiceError(f"{path} cannot be read: {error}") from error


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None


def _put(path: Path, text: str | None) -> None:
    """Whoever reads it meanwhile finds the old file or the new one."""
    if text is None:
        path.unlink(missing_ok=True)
        return
    number, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    staged = Path(name)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), _FILE_MODE)
            os.fsync(file.fileno())
        staged.replace(path)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise


def _make_folders(folder: Path, made: list[Path]) -> None:
    """Note in `made` those that had to be made, the deepest first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(0o755)
        made.insert(0, path)
