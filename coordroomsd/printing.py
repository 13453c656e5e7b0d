"""What the command prints, on a standard output that may be full, or read by nobody."""

from __future__ import annotations

import os
import sys


class UnwritableError(Exception):
    """Standard output takes no more, for another reason than that nobody reads it."""


def write(text: str, end: str = "\n") -> None:
    """Put it on standard output, at once. Raises UnwritableError, or BrokenPipeError."""
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_what_is_unwritten()
        raise UnwritableError(
            f"what there is to show cannot be written: {error.strerror}"
        ) from error


def drop_what_is_unwritten() -> None:
    # Nothing may be left for the interpreter to flush: it would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
