"""Reading what is given to the command, so that what is wrong with it is told in our own words."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def explained(parse: Callable[[str], T]) -> Callable[[str], T]:
    """`parse` as argparse wants it, which shows what it was given unless told what to say.

    What it was given may be a database's URL, with a password in it.
    """

    def argument(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return argument


def path_of(text: str) -> Path:
    """Raises ValueError."""
    # An unset variable of a script: it would mean the current directory.
    if not text:
        raise ValueError("should be a path")
    return Path(text).absolute()


def path_or_stream(text: str) -> Path:
    """The same, or `-`, which stands for a standard stream."""
    return Path(text) if text == "-" else path_of(text)
