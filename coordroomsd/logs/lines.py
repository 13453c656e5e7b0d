"""What a record of `logging` is told as, whatever the names and errors in it hold.

Bodies and tokens are never told. An exception's text may quote what a caller sent, as a data error
of Postgres does, so that of most is left out: where it was raised, and its type, say enough.
"""

from __future__ import annotations

import logging
import traceback
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

from coordroomsd.domain.errors import Refusal
from coordroomsd.store.errors import StoreError

# `logger.warning(…, extra={FIELDS: {…}})`: what a reader may want to filter by.
FIELDS: Final = "fields"
MAX_CHARACTERS: Final = 8_000

_HARMFUL: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Of SQLSTATE: a connection, a transaction, locks, resources, an operator, the system, a bug of the
# server. The others, above all data (22) and constraints (23), quote values.
_HARMLESS_STATES: Final = ("08", "25", "40", "53", "55", "57", "58", "XX")


@dataclass(frozen=True, slots=True)
class Line:
    """`message` may have several lines; nothing in it or in `fields` steers a terminal."""

    message: str
    fields: Mapping[str, str | int | float]
    traceback: list[str]


def line_of(record: logging.LogRecord) -> Line:
    error = record.exc_info[1] if record.exc_info else None
    fields = {
        name: value if isinstance(value, (int, float)) else harmless(str(value))
        for name, value in getattr(record, FIELDS, {}).items()
    }
    lines = [*_traceback(error)] if error else []
    return Line(_in_lines(_message(record)), fields, [harmless(line) for line in lines])


def harmless(text: str) -> str:
    """On one line, without signs that steer a terminal, hide, or turn the direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        sign if unicodedata.category(sign) not in _HARMFUL else _escaped(sign) for sign in text
    )


def told(error: BaseException) -> str:
    """An exception, without what a caller may have written."""
    name = type(error).__name__
    match error:
        case StoreError():
            return str(error)
        case Refusal(code="store_unavailable"):
            return error.detail
        case Refusal():
            return error.code
        case OSError():
            return f"{name}: {error.strerror or error}"
        case asyncpg.PostgresError():
            state = str(error.sqlstate)
            if state.startswith(_HARMLESS_STATES):
                return f"{name}: {str(error).partition(chr(10))[0]}"
            constraint = f" of {error.constraint_name}" if error.constraint_name else ""
            return f"{name}{constraint} ({state})"
    return name


def _message(record: logging.LogRecord) -> str:
    arguments: Any = record.args
    if isinstance(arguments, tuple):
        arguments = tuple(told(a) if isinstance(a, BaseException) else a for a in arguments)
    text = str(record.msg)
    try:
        text = text % arguments if arguments else text
    except (TypeError, ValueError):
        # A line that cannot be put together is a bug, and still a line.
        text = f"{text} (with the wrong arguments)"
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]} …"


def _in_lines(text: str) -> str:
    return "\n".join(harmless(line) for line in text.rstrip("\n").split("\n"))


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode()


def _traceback(error: BaseException, depth: int = 0) -> Iterator[str]:
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and depth < 5:
        yield from _traceback(cause, depth + 1)
        yield "which led to:"
    yield "Traceback (most recent call last):"
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"  {frame.filename}:{frame.lineno} {frame.name}: {frame.line}"
    yield told(error)
    if isinstance(error, BaseExceptionGroup) and depth < 5:
        for one in error.exceptions:
            yield "one of these:"
            yield from _traceback(one, depth + 1)
