"""Records as `logging` makes them."""

from __future__ import annotations

import logging
import sys


def record(
    message: str,
    *arguments: object,
    level: int = logging.WARNING,
    error: BaseException | None = None,
    **extra: object,
) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    made = logging.getLogger("coordroomsd.test").makeRecord(
        "coordroomsd.test", level, __file__, 1, message, arguments, info, "here", extra
    )
    made.created = 1_767_225_600.5
    return made


def raised(error: Exception) -> BaseException:
    """The error as it is once it was raised."""
    try:
        raise error
    except Exception:
        caught = sys.exc_info()[1]
        assert caught is not None
        return caught
