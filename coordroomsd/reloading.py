"""Reading the configuration again while the daemon runs."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from coordroomsd.config import Config, ConfigurationError
from coordroomsd.settings import SECTIONS
from coordroomsd.systemd import Notifier

logger = logging.getLogger(__name__)
# Whoever asks for a reload gets an answer, whatever [log] level says before or after it.
logger.setLevel(logging.INFO)


class Reading(NamedTuple):
    """What came of reading it again; keys are dotted, as in `Config.sources`."""

    in_force: Config
    changed: list[str]
    waiting_for_restart: list[str]


def merged(running: Config, read: Config) -> Reading:
    """`running` with what may change without a restart."""
    sections, changed, waiting = {}, [], []
    for name, section in SECTIONS.items():
        before, after = getattr(running, name), getattr(read, name)
        differing = [key for key in section.model_fields if _differs(before, after, key)]
        reloaded = {key: getattr(after, key) for key in differing if section.is_reloaded(key)}
        sections[name] = before.model_copy(update=reloaded)
        changed += [f"{name}.{key}" for key in reloaded]
        waiting += [f"{name}.{key}" for key in differing if key not in reloaded]
    kept = {key: running.sources[key] for key in waiting if key in running.sources}
    sources = {**read.sources, **kept}
    return Reading(dataclasses.replace(running, **sections, sources=sources), changed, waiting)


def _differs(before: object, after: object, key: str) -> bool:
    return bool(getattr(before, key) != getattr(after, key))


class Reloading:
    """Reads the configuration again when it is asked to, one time after the other.

    What is asked while the daemon is starting, or while it reads, is done after that.
    """

    def __init__(self, running: Config, read: Callable[[], Config], manager: Notifier) -> None:
        self._running = running
        self._read = read
        self._manager = manager
        self._asked = asyncio.Event()

    def ask(self) -> None:
        self._asked.set()

    async def run(self, adopt: Callable[[Config], None], status: str) -> None:
        """Let `adopt` put into force what has changed. Runs until cancelled."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            self._manager.reloading()
            # In a thread: the file may lie on a file system that hangs.
            if read := await asyncio.to_thread(self._read_or_complain):
                reading = merged(self._running, read)
                adopt(reading.in_force)
                self._running = reading.in_force
                for level, line in _told(reading, read):
                    logger.log(level, line)
            self._manager.ready(status)

    def _read_or_complain(self) -> Config | None:
        try:
            return self._read()
        except ConfigurationError as error:
            for fault in error.faults:
                logger.error("the configuration has a fault and stays as it was: %s", fault)
        except Exception:
            logger.exception("the configuration cannot be read and stays as it was")
        return None


def _told(reading: Reading, read: Config) -> Iterator[tuple[int, str]]:
    """Without values: a database's URL has its password in it."""
    for key in reading.changed:
        yield logging.INFO, f"{_shown(key)} has changed, from {read.sources[key]}"
    for key in reading.waiting_for_restart:
        yield (
            logging.WARNING,
            f"{_shown(key)} has changed, from {read.sources[key]}, and waits for a restart",
        )
    if not reading.changed:
        yield logging.INFO, "the configuration was read again; nothing new is in force"


def _shown(key: str) -> str:
    section, _, name = key.partition(".")
    return f"[{section}] {name}"
