"""What systemd and its services tell each other: sockets handed over, readiness, the watchdog.

sd_listen_fds(3) and sd_notify(3): a few environment variables and a datagram, so no library.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import MutableMapping
from pathlib import Path

# The first descriptor that is handed over (SD_LISTEN_FDS_START).
_FIRST = 3


class Notifier:
    """Tells the service manager how it goes; without one, nobody."""

    def __init__(self, environment: MutableMapping[str, str] | None = None) -> None:
        environment = os.environ if environment is None else environment
        self._address = environment.pop("NOTIFY_SOCKET", "")
        period_us = environment.pop("WATCHDOG_USEC", "0")
        watched_pid = environment.pop("WATCHDOG_PID", str(os.getpid()))
        is_watched = period_us.isdigit() and watched_pid == str(os.getpid())
        # How long it may stay silent, in seconds; 0: nobody watches.
        self.watchdog_s = int(period_us) / 1_000_000 if is_watched else 0.0

    @property
    def is_there(self) -> bool:
        return bool(self._address)

    def ready(self, status: str) -> None:
        self._send(f"READY=1\nSTATUS={status}")

    def reloading(self) -> None:
        """Until `ready`. The moment tells the manager which of its requests this answers."""
        now_us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send(f"RELOADING=1\nMONOTONIC_USEC={now_us}")

    def stopping(self) -> None:
        self._send("STOPPING=1")

    def alive(self) -> None:
        self._send("WATCHDOG=1")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        # An abstract address is written with @ and begins with NUL.
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            try:
                sender.sendto(message.encode(), address)
            except OSError:
                # A manager that is away cannot be told; it will look by itself.
                return


def handed_over(environment: MutableMapping[str, str] | None = None) -> list[socket.socket]:
    """The listening sockets that the service manager has opened for us, once: it is then forgotten.

    They outlive this process, so a restart refuses no call.
    """
    environment = os.environ if environment is None else environment
    pid, count = environment.pop("LISTEN_PID", ""), environment.pop("LISTEN_FDS", "0")
    environment.pop("LISTEN_FDNAMES", None)
    if pid != str(os.getpid()) or not count.isdigit():
        return []
    sockets = []
    for descriptor in range(_FIRST, _FIRST + int(count)):
        os.set_inheritable(descriptor, False)
        sockets.append(socket.socket(fileno=descriptor))
    return sockets


def is_at(listener: socket.socket, path: Path) -> bool:
    """Whether a socket listens at this path."""
    return listener.family == socket.AF_UNIX and listener.getsockname() == str(path)
