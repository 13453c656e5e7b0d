"""Where a command writes: data on standard output, errors and asides on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from ..errors import CoordroomsError
from ..models import Json
from .texts import Style, safe, table


class UnwritableError(CoordroomsError):
    """Standard output takes no more, for another reason than that nobody reads it."""


class Output:
    """Writes for people, or JSON for programs when that was asked for."""

    def __init__(self, command: str, *, as_json: bool) -> None:
        self.as_json = as_json
        self.style = Style(coloured=_takes_colours(sys.stdout))
        self._command = command

    def line(self, text: str) -> None:
        """A line for people, at once. What others wrote in it must be `safe` already."""
        write(text)

    def document(self, document: Json) -> None:
        """A JSON document on a line of its own, at once."""
        write(json.dumps(document, ensure_ascii=False))

    def answer(self, document: Json, text: str) -> None:
        """The daemon's document for programs, `text` for people."""
        if self.as_json:
            self.document(document)
        else:
            self.line(text)

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """Aligned columns; what others wrote in them must be `safe` already."""
        first, *rest = table(heads, rows)
        return "\n".join([self.style.dim(first), *rest])

    def aside(self, text: str) -> None:
        """Something for people that is not what they asked for."""
        if not self.as_json:
            print(text, file=sys.stderr, flush=True)

    def warn(self, text: str, document: Json) -> None:
        """Something that whoever asked has to know, and that is no answer."""
        print(json.dumps(document) if self.as_json else text, file=sys.stderr, flush=True)

    def fail(self, sentence: str, document: Json) -> None:
        if self.as_json:
            print(json.dumps(document, ensure_ascii=False), file=sys.stderr)
        else:
            print(f"{self._command}: {safe(sentence)}", file=sys.stderr)

    @property
    def on_terminal(self) -> bool:
        return sys.stdout.isatty()


def write(text: str, end: str = "\n") -> None:
    """Put it on standard output, at once."""
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        why = error.strerror or str(error)
        raise UnwritableError(f"What there is to show cannot be written: {why}.") from error


def _takes_colours(stream: TextIO) -> bool:
    # https://no-color.org
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain
