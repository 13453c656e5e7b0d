"""The units, as systemd's own tools judge them, and sockets that a service manager hands over."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coordroomsd.service.units import SERVICE, SOCKET
from coordroomsd.service.units import unit as unit_text
from tests.polling import GIVE_UP_AFTER_S
from tests.restarts import check_that_nobody_notices
from tests.socket_units import DAEMON, SocketUnit

ANALYZE = shutil.which("systemd-analyze")

with_systemd = pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")


def analyze(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    assert ANALYZE
    return subprocess.run(
        [ANALYZE, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units as they are put in place, below a folder for each kind."""
    for kind in ("system", "user"):
        folder = tmp_path / "systemd" / kind
        folder.mkdir(parents=True)
        for name in (SERVICE, SOCKET):
            (folder / name).write_text(unit_text(kind, name, [str(DAEMON)]))
    return tmp_path / "systemd"


@with_systemd
def test_systemd_understands_the_units(units: Path, tmp_path: Path) -> None:
    system = sorted(str(path) for path in (units / "system").iterdir())
    checked = analyze("verify", "--man=no", *system)
    complaints = [line for line in checked.stderr.splitlines() if str(units) in line]
    assert complaints == []
    user = sorted(str(path) for path in (units / "user").iterdir())
    checked = analyze("verify", "--user", "--man=no", *user, XDG_RUNTIME_DIR=str(tmp_path))
    complaints = [line for line in checked.stderr.splitlines() if str(units) in line]
    assert complaints == []


@with_systemd
def test_the_service_is_exposed_to_little(units: Path) -> None:
    """A score of at most 1.5 of 10, which systemd-analyze counts in tenths."""
    unit = str(units / "system" / "coordroomsd.service")
    scored = analyze("security", "--offline=true", "--threshold=15", "--no-pager", unit)
    assert scored.returncode == 0, scored.stdout[-600:] + scored.stderr


@pytest.mark.parametrize("kind", ["system", "user"])
def test_a_start_is_tried_on_for_as_long_as_it_takes(kind: str) -> None:
    """systemd's limit would end in a socket that refuses callers until somebody comes."""
    assert "\nStartLimitIntervalSec=0\n" in unit_text(kind, SERVICE, [str(DAEMON)])


@pytest.fixture
def unit(state_dir: Path) -> Iterator[SocketUnit]:
    with SocketUnit(state_dir) as unit:
        yield unit


def answer(path: Path, request: str) -> str:
    """Send a request at once, and wait for its answer as long as it takes somebody to give it."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(GIVE_UP_AFTER_S)
        caller.connect(str(path))
        caller.sendall(f"GET {request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        with caller.makefile("r") as lines:
            return lines.read()


def test_a_socket_that_is_handed_over_outlives_restarts(unit: SocketUnit) -> None:
    """Who calls while no daemon runs is answered by the next one; the socket stays in its place."""
    for _ in range(2):
        with ThreadPoolExecutor() as callers:
            called = callers.submit(answer, unit.api, "/readyz")
            unit.start()
            assert called.result().startswith("HTTP/1.1 200")
        unit.stop()
        assert unit.api.is_socket()
        assert unit.mcp.is_socket()


def test_a_socket_that_nothing_names_is_refused(state_dir: Path) -> None:
    with SocketUnit(state_dir, mcp="other.sock") as unit:
        assert unit.spawn().wait(GIVE_UP_AFTER_S) == 1
        assert "other.sock, which the configuration does not name" in unit.log()


async def test_clients_of_the_library_notice_no_restart(unit: SocketUnit) -> None:
    """`make faults` has the same with five hundred parked waits and thirty-two writers."""
    unit.start()
    await check_that_nobody_notices(
        unit.url, unit.restart, restarts=2, followers=40, writers=8, rooms=4
    )
