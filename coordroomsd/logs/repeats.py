"""A client that misbehaves, or a database that is away, says the same thousands of times."""

from __future__ import annotations

import logging
from collections.abc import Hashable
from typing import Final

from coordroomsd.logs.lines import FIELDS

# `logger.warning(…, extra={LIKE: key})`: what counts as the same; else the text before its
# arguments are put in.
LIKE: Final = "like"
SHOWN: Final = 5
WINDOW_S: Final = 10.0
# Of different ones in a window; beyond that, a logger's lines of one level are all the same.
_MAX_DIFFERENT: Final = 500


class Repeats(logging.Filter):
    """Lets SHOWN lines of a kind pass until the next `report`, which tells how many more came.

    One that names an `error_id` always passes, for its id was told to somebody; its traceback goes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[Hashable, int] = {}
        self._held_back: dict[Hashable, logging.LogRecord] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        like = self._like(record)
        self._counts[like] = count = self._counts.get(like, 0) + 1
        if count <= SHOWN:
            return True
        if "error_id" in getattr(record, FIELDS, {}):
            record.exc_info = None
            return True
        self._held_back[like] = record
        return False

    def report(self) -> list[logging.LogRecord]:
        """A line for each kind that was held back, to be handled past this filter."""
        counts, self._counts = self._counts, {}
        held_back, self._held_back = self._held_back, {}
        lines = []
        for like, record in held_back.items():
            more = counts[like] - SHOWN
            record.msg = f"{more} more in {WINDOW_S:g} s like: {record.msg}"
            record.exc_info = None
            setattr(record, FIELDS, {**getattr(record, FIELDS, {}), "more": more})
            lines.append(record)
        return lines

    def _like(self, record: logging.LogRecord) -> Hashable:
        like = (record.name, record.levelno, getattr(record, LIKE, str(record.msg)))
        if like in self._counts or len(self._counts) < _MAX_DIFFERENT:
            return like
        return record.name, record.levelno
