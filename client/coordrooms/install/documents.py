"""A file while it is being edited: in memory, nothing is written here."""

from __future__ import annotations

import json
from typing import Any

from . import jsonc
from .failures import InstallError

Path = tuple[str, ...]

_BLANK = "\ufeff \t\r\n"


class Document:
    """One file. `text` is None while there is none; `said` tells what was done, for a person."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.before = _read(file)
        self.text = None if self.before is None else self._decoded(self.before)
        self.said: list[str] = []

    @property
    def after(self) -> bytes | None:
        return None if self.text is None else self.text.encode()

    @property
    def changed(self) -> bool:
        return self.after != self.before

    @property
    def blank(self) -> bool:
        """Whether there is nothing in it, or no file."""
        return self.text is None or not self.text.strip(_BLANK)

    def root(self) -> jsonc.Node:
        """The file as JSON. Raises InstallError."""
        try:
            return jsonc.parse(self.text or "")
        except jsonc.JsoncError as fault:
            raise self.unreadable(fault) from fault

    def value_at(self, path: Path) -> Any:
        """What stands along `path`; None when nothing does."""
        node = None if self.blank else jsonc.lookup(self.root(), path)
        return None if node is None else node.value

    def prove(self, expected: Any) -> None:
        """That the text says what it should: an edit that does not is never written."""
        if self.root().value != expected:
            raise InstallError(
                f"{self.file} is laid out in a way that this cannot edit safely, so nothing was "
                "changed. Edit it by hand: `--dry-run` shows what belongs there."
            )

    def unreadable(self, fault: Exception) -> InstallError:
        problem = f"{self.file} cannot be understood: {fault}. Mend it, and run this again."
        return InstallError(problem)

    def unfit(self, path: Path, wanted: str) -> InstallError:
        where = ".".join(path) or "its outermost value"
        return InstallError(
            f"In {self.file}, {where} is not {wanted}. Mend it, and run this again."
        )

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as fault:
            raise self.unreadable(fault) from fault


def shown(value: Any) -> str:
    """A value as a preview shows it."""
    return json.dumps(value, ensure_ascii=False)


def _read(file: str) -> bytes | None:
    try:
        with open(file, "rb") as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise InstallError(f"{file} cannot be read: {fault.strerror}.") from fault
