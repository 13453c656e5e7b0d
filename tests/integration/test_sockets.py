"""Sockets that are taken, left behind, or wanted by two at once."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from coordroomsd import sockets
from coordroomsd.sockets import SocketError, unix_listener


@pytest.fixture
def path(state_dir: Path) -> Path:
    return state_dir / "s.sock"


@pytest.fixture
def stale(path: Path) -> Path:
    """What a killed daemon leaves."""
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    return path


def test_one_that_is_served_is_left_alone(path: Path) -> None:
    with unix_listener(path, 5):
        with pytest.raises(SocketError, match="another process serves"), unix_listener(path, 5):
            pass
        assert path.exists()
    assert not path.exists()


def test_two_that_start_at_once_do_not_both_take_a_stale_one(
    stale: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second looks while the first one has looked, and has not made its own yet."""
    bind = sockets._bind
    second_said: list[str] = []

    def start_second() -> None:
        try:
            with unix_listener(stale, 5):
                second_said.append("served")
        except SocketError as error:
            second_said.append(str(error))

    second = threading.Thread(target=start_second)

    def bind_late(listener: socket.socket, path: Path) -> None:
        monkeypatch.setattr(sockets, "_bind", bind)
        second.start()
        # Unlocked, it would be through by then.
        second.join(0.2)
        bind(listener, path)

    monkeypatch.setattr(sockets, "_bind", bind_late)
    with unix_listener(stale, 5), socket.socket(socket.AF_UNIX) as caller:
        second.join()
        assert second_said == [
            f"another process serves {stale}; stop it, or name another path with --socket"
        ]
        caller.connect(str(stale))
    assert not stale.exists()


def test_whoever_locks_the_directory_for_good_is_not_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "_PROBE_WITHIN_S", 0.05)
    with sockets._others_kept_waiting(path.parent), unix_listener(path, 5):
        assert path.exists()


def test_it_goes_however_its_use_ends(path: Path) -> None:
    with pytest.raises(RuntimeError), unix_listener(path, 5):
        raise RuntimeError
    assert not path.exists()


def test_somebody_elses_that_has_taken_its_place_stays(path: Path) -> None:
    with unix_listener(path, 5):
        path.unlink()
        path.write_text("another's")
    assert path.read_text() == "another's"


def test_its_directories_are_made_and_removed(state_dir: Path) -> None:
    path = state_dir / "run" / "rooms" / "s.sock"
    with unix_listener(path, 5):
        assert path.is_socket()
    assert not (state_dir / "run").exists()


def test_directories_that_others_use_meanwhile_stay(state_dir: Path) -> None:
    path = state_dir / "run" / "rooms" / "s.sock"
    with unix_listener(path, 5):
        (state_dir / "run" / "notes").write_text("another's")
    assert [path.name for path in (state_dir / "run").iterdir()] == ["notes"]
