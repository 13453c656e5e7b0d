"""Where the daemon's lines go, and which."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping
from typing import Any, Final, TextIO

from coordroomsd.logs.formats import JsonFormatter, TextFormatter
from coordroomsd.logs.journald import JOURNAL, JournalHandler, is_journal
from coordroomsd.logs.repeats import WINDOW_S, Repeats
from coordroomsd.settings import Log

_OURS: Final = "coordroomsd"
logger = logging.getLogger(__name__)


class Logs:
    """Made by `begin`. What is logged before goes to standard error, as `logging` has it."""

    def __init__(self, handler: logging.Handler, repeats: Repeats) -> None:
        self._handler = handler
        self._repeats = repeats

    async def report_repeats_regularly(self) -> None:
        """Runs until cancelled."""
        try:
            while True:
                await asyncio.sleep(WINDOW_S)
                self._report()
        finally:
            self._report()

    def _report(self) -> None:
        for record in self._repeats.report():
            self._handler.acquire()
            try:
                self._handler.emit(record)
            finally:
                self._handler.release()


def begin(
    section: Log,
    environment: Mapping[str, str],
    stream: TextIO = sys.stderr,
    journal: str = JOURNAL,
) -> Logs:
    """Of the daemon's own loggers, lines from the configured level on; of libraries, warnings."""
    handler: logging.Handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if section.format == "json" else TextFormatter())
    if section.format == "auto" and _goes_to_journal(stream, environment):
        handler = JournalHandler(journal, otherwise=handler)
    repeats = Repeats()
    handler.addFilter(repeats)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    set_level(section.level)
    return Logs(handler, repeats)


def set_level(level: str) -> None:
    """From now on, for the daemon's own lines: `debug`, `info`, `warning` or `error`."""
    logging.getLogger(_OURS).setLevel(level.upper())


def told_by_loop(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """asyncio's own would show what is in a task's result or exception."""
    task = context.get("task") or context.get("future")
    name = task.get_name() if isinstance(task, asyncio.Task) else "the event loop"
    logger.error("%s: %s", name, context.get("message"), exc_info=context.get("exception"))


def _goes_to_journal(stream: TextIO, environment: Mapping[str, str]) -> bool:
    try:
        return is_journal(stream.fileno(), environment)
    except (OSError, ValueError):  # a stream without a descriptor
        return False
