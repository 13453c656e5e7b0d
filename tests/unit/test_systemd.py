from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from coordroomsd import systemd
from coordroomsd.systemd import Notifier


@pytest.fixture
def manager(tmp_path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listening.bind(str(tmp_path / "notify"))
    listening.settimeout(5)
    return listening


def test_the_manager_hears_of_start_life_and_end(manager: socket.socket) -> None:
    with manager:
        notifier = Notifier({"NOTIFY_SOCKET": manager.getsockname()})
        notifier.ready("serves /run/x.sock")
        notifier.alive()
        notifier.stopping()
        heard = [manager.recv(1000) for _ in range(3)]
    assert heard == [b"READY=1\nSTATUS=serves /run/x.sock", b"WATCHDOG=1", b"STOPPING=1"]


def test_without_a_manager_nobody_is_told() -> None:
    notifier = Notifier({})
    notifier.ready("serves")
    assert notifier.watchdog_s == 0


def test_a_manager_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "gone")}).ready("serves")


def test_children_inherit_nothing_of_it() -> None:
    environment = {
        "NOTIFY_SOCKET": "/run/notify",
        "WATCHDOG_USEC": "3000000",
        "WATCHDOG_PID": str(os.getpid()),
        "LISTEN_PID": "1",
        "LISTEN_FDS": "2",
        "LISTEN_FDNAMES": "a:b",
    }
    assert Notifier(environment).watchdog_s == 3
    assert systemd.handed_over(environment) == []
    assert environment == {}


def test_a_watchdog_of_another_process_is_not_ours() -> None:
    assert Notifier({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}).watchdog_s == 0
