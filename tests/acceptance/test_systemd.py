"""The units, as systemd's own tools judge them, and sockets that a service manager hands over."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.polling import GIVE_UP_AFTER_S
from tests.postgres_servers import make_state_dir

UNITS = Path(__file__).parents[2] / "systemd"
DAEMON = Path(sys.executable).with_name("coordroomsd")
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
    """The units with the command's real path: systemd looks for a bare name in its own places."""
    folder = tmp_path / "systemd"
    shutil.copytree(UNITS, folder)
    for unit in folder.glob("*/*.service"):
        unit.write_text(unit.read_text().replace("=coordroomsd ", f"={DAEMON} "))
    return folder


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


# Takes the place that systemd has: sockets from descriptor 3 on, told to the process that execs.
HAND_OVER = """
import os, sys
descriptors = [int(number) for number in sys.argv[1].split(",")]
# Moved out of the way first: none may be overwritten on its way to 3.
high = [os.dup2(number, 50 + place) for place, number in enumerate(descriptors)]
for place, number in enumerate(high, 3):
    os.dup2(number, place)
os.environ |= {"LISTEN_FDS": str(len(high)), "LISTEN_PID": str(os.getpid())}
os.execv(sys.argv[2], sys.argv[2:])
"""


def start(listeners: list[socket.socket], state: Path) -> subprocess.Popen[str]:
    """The daemon with these listening sockets, as a service manager starts it."""
    descriptors = [listener.fileno() for listener in listeners]
    api = listeners[0].getsockname()
    serve = [str(DAEMON), "serve", "--state-dir", str(state), "--socket", api]
    return subprocess.Popen(
        [sys.executable, "-c", HAND_OVER, ",".join(map(str, descriptors)), *serve],
        pass_fds=descriptors,
        stdout=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen[str]) -> int:
    process.terminate()
    process.communicate()
    return process.returncode


def listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(16)
    return listener


def answer(path: Path, request: str) -> str:
    """Send a request at once, and wait for its answer as long as it takes somebody to give it."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(GIVE_UP_AFTER_S)
        caller.connect(str(path))
        caller.sendall(f"GET {request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        with caller.makefile("r") as lines:
            return lines.read()


def test_a_socket_that_is_handed_over_outlives_restarts() -> None:
    """Who calls while no daemon runs is answered by the next one; the socket stays in its place."""
    state = make_state_dir()
    try:
        api, mcp = listening(state / "d.sock"), listening(state / "d-mcp.sock")
        with api, mcp:
            for _ in range(2):
                with ThreadPoolExecutor() as callers:
                    called = callers.submit(answer, state / "d.sock", "/readyz")
                    daemon = start([api, mcp], state)
                    assert called.result().startswith("HTTP/1.1 200")
                assert end(daemon) == 0
                assert (state / "d.sock").is_socket()
                assert (state / "d-mcp.sock").is_socket()
    finally:
        shutil.rmtree(state)


def test_a_socket_that_nothing_names_is_refused() -> None:
    state = make_state_dir()
    try:
        with listening(state / "d.sock") as api, listening(state / "other.sock") as other:
            daemon = start([api, other], state)
            assert daemon.wait(GIVE_UP_AFTER_S) == 1
            daemon.communicate()
    finally:
        shutil.rmtree(state)
