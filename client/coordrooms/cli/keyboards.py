"""Keys that are read as they are pressed, without waiting for Enter."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator


class Keyboard:
    """`pressed` waits for a key; without a terminal nobody ever presses one."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def pressed(self, within_s: float) -> str:
        """The keys that were pressed, as soon as one is; "" when none was in that time."""
        if self._descriptor is None:
            time.sleep(within_s)
            return ""
        if not select.select([self._descriptor], [], [], within_s)[0]:
            return ""
        keys = os.read(self._descriptor, 100)
        if not keys:  # hung up
            self._descriptor = None
        return keys.decode(errors="replace")


@contextlib.contextmanager
def keyboard() -> Iterator[Keyboard]:
    """The terminal's settings are afterwards as they were."""
    if not sys.stdin.isatty():
        yield Keyboard(None)
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        # Ctrl-C stays a signal.
        tty.setcbreak(descriptor)
        yield Keyboard(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
