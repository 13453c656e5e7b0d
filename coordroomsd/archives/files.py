"""Files that are there whole or not at all, and the standard streams in their place."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from coordroomsd.archives.errors import ArchiveError

STANDARD_STREAM: Final = Path("-")


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that is at `path`, on the disk and for its owner alone, once the block has ended well.

    Until then, and after a failure, nothing is there. `-` is standard output.

    :raises ArchiveError: something is there already, or it cannot be written.
    """
    try:
        if path == STANDARD_STREAM:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        if os.path.lexists(path):
            raise _there_already(path)
        with _unfinished(path) as (unfinished, file):
            yield file
            file.flush()
            os.fsync(file.fileno())
            _put_in_place(unfinished, path)
    except OSError as error:
        place = "standard output" if path == STANDARD_STREAM else path
        raise ArchiveError(f"cannot write {place}: {error.strerror or error}") from error


@contextmanager
def existing_file(path: Path) -> Iterator[BinaryIO]:
    """The file at `path`; `-` is standard input.

    :raises ArchiveError: it cannot be opened.
    """
    if path == STANDARD_STREAM:
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise ArchiveError(f"cannot read {path}: {error.strerror}") from error
    with file:
        yield file


@contextmanager
def _unfinished(path: Path) -> Iterator[tuple[Path, BinaryIO]]:
    unfinished = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.unfinished")
    file = os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    try:
        with contextlib.closing(file):
            yield unfinished, file
    finally:
        unfinished.unlink(missing_ok=True)


def _put_in_place(unfinished: Path, path: Path) -> None:
    try:
        # Unlike a rename it replaces nothing, not even what somebody has put there just now.
        os.link(unfinished, path)
    except FileExistsError:
        raise _there_already(path) from None
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise _there_already(path) from None
        unfinished.rename(path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _there_already(path: Path) -> ArchiveError:
    return ArchiveError(f"{path} is there already and is not overwritten; name another file")
