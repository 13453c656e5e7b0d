"""Where the private server's files may lie, and what is refused before it starts."""

# ruff: noqa: ASYNC240 - a test may hold up its own loop

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordroomsd.store.errors import StateDirectoryError
from coordroomsd.store.private_postgres import PrivatePostgres
from coordroomsd.store.server_users import server_user
from coordroomsd.store.state_directories import StateDirectory
from tests.integration.private_servers import count_rows, only_data_is_left

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")
as_ordinary_user = pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def deep_state_dir(used_state_dir: Path) -> Path:
    """Data under a path that is too long for a socket's."""
    parent = used_state_dir / ("long" * 20)
    path = parent / ("name" * 10)
    path.mkdir(parents=True)
    (used_state_dir / "data").rename(path / "data")
    return path


@pytest.fixture
def distant_sockets(deep_state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The short place for that directory's socket, before anything is there."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    path = StateDirectory(deep_state_dir, server_user(None)).socket_directory()
    assert path.parent == Path("/tmp")
    yield path
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        path.rmdir()


@pytest.mark.parametrize("name", ["with a space", "a,b", 'q"uote', "é", "100%"])
async def test_odd_names_are_only_names(used_state_dir: Path, name: str) -> None:
    path = used_state_dir / name
    path.mkdir()
    (used_state_dir / "data").rename(path / "data")
    server = PrivatePostgres(path)
    await server.start()
    assert await count_rows(server) == 1
    await server.stop()
    assert only_data_is_left(path)


async def test_long_path_has_its_socket_elsewhere(
    deep_state_dir: Path, distant_sockets: Path
) -> None:
    server = PrivatePostgres(deep_state_dir)
    await server.start()
    assert await count_rows(server) == 1
    assert mode_of(distant_sockets) == 0o700
    await server.stop()
    assert not distant_sockets.exists()
    assert only_data_is_left(deep_state_dir)


async def test_a_link_in_place_of_the_socket_directory_is_not_followed(
    deep_state_dir: Path, distant_sockets: Path, used_state_dir: Path
) -> None:
    target = used_state_dir / "target"
    target.mkdir(mode=0o755)
    distant_sockets.symlink_to(target)
    with pytest.raises(StateDirectoryError, match=f"{distant_sockets}.*is not a directory"):
        await PrivatePostgres(deep_state_dir).start()
    assert mode_of(target) == 0o755
    assert distant_sockets.is_symlink()


@as_root
async def test_somebody_s_directory_in_its_place_is_refused(
    deep_state_dir: Path, distant_sockets: Path
) -> None:
    distant_sockets.mkdir(mode=0o755)
    os.chown(distant_sockets, 1, 1)
    with pytest.raises(StateDirectoryError, match="belongs to somebody else"):
        await PrivatePostgres(deep_state_dir).start()
    assert mode_of(distant_sockets) == 0o755


@as_root
async def test_closed_parent_is_named_and_left_closed(state_dir: Path) -> None:
    closed = state_dir / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(StateDirectoryError, match=f"may not enter {closed} .*chmod o.x {closed}"):
        await PrivatePostgres(closed / "state").start()
    assert mode_of(closed) == 0o700


@as_root
def test_directories_that_are_made_can_be_entered(state_dir: Path) -> None:
    before = os.umask(0o077)
    try:
        StateDirectory(state_dir / "a" / "b", server_user(None)).prepare()
    finally:
        os.umask(before)
    assert mode_of(state_dir / "a") == mode_of(state_dir / "a" / "b") == 0o711


@as_ordinary_user
async def test_directory_that_cannot_be_made(state_dir: Path) -> None:
    state_dir.chmod(0o500)
    with pytest.raises(StateDirectoryError, match="cannot make the state directory"):
        await PrivatePostgres(state_dir / "state").start()


async def test_file_in_place_of_the_directory(state_dir: Path) -> None:
    (state_dir / "state").write_text("")
    with pytest.raises(StateDirectoryError, match=f"{state_dir / 'state'}"):
        await PrivatePostgres(state_dir / "state").start()


async def test_other_files_in_the_directory_are_left_alone(used_state_dir: Path) -> None:
    (used_state_dir / "config.toml").write_text("[database]\n")
    server = PrivatePostgres(used_state_dir)
    await server.start()
    await server.stop()
    assert (used_state_dir / "config.toml").read_text() == "[database]\n"
