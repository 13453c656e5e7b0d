"""What asks the daemon to end."""

from __future__ import annotations

import os
import signal

# A service manager, and a Ctrl-C.
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def ending_signals() -> list[signal.Signals]:
    """Without those that whoever started the daemon has it ignore."""
    return [number for number in _SIGNALS if not _is_ignored(number)]


def is_told_of_hang_ups() -> bool:
    """Not under nohup."""
    return not _is_ignored(signal.SIGHUP)


def _is_ignored(number: signal.Signals) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN


class Terminal:
    """The one that the daemon was started in, if there was one.

    SIGHUP has two meanings, and this tells which: the terminal was closed, or somebody asks for the
    configuration to be read again. The kernel takes the terminal away before it sends the signal.
    """

    def __init__(self) -> None:
        self._was_there = _is_there()

    def is_gone(self) -> bool:
        return self._was_there and not _is_there()


def _is_there() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return False
    return True
