from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coordroomsd.archives.errors import ArchiveError
from coordroomsd.archives.files import STANDARD_STREAM, existing_file, new_file


def test_a_file_is_there_at_its_end_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "rooms.backup"
    with new_file(path) as file:
        file.write(b"all")
        assert not path.exists()
    assert path.read_bytes() == b"all"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
def test_a_failure_leaves_nothing(failure: type[BaseException], tmp_path: Path) -> None:
    def write_half() -> None:
        with new_file(tmp_path / "rooms.backup") as file:
            file.write(b"half")
            raise failure

    with pytest.raises(failure):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "rooms.backup"
    with pytest.raises(ArchiveError, match=f"cannot write {path}: No space left"), new_file(path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "rooms.backup"
    path.symlink_to("nowhere")
    with pytest.raises(ArchiveError, match="is there already"), new_file(path):
        raise AssertionError("it was begun")
    assert path.is_symlink()


@pytest.mark.parametrize("links", [True, False])
def test_nor_what_comes_meanwhile(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", _no_links)
    path = tmp_path / "rooms.backup"
    with pytest.raises(ArchiveError, match="is there already"), new_file(path):
        path.write_bytes(b"yours")
    assert path.read_bytes() == b"yours"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_system_without_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", _no_links)
    path = tmp_path / "rooms.backup"
    with new_file(path) as file:
        file.write(b"all")
    assert path.read_bytes() == b"all"
    assert list(tmp_path.iterdir()) == [path]


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "rooms.backup"
    with pytest.raises(ArchiveError, match=f"cannot write {path}: No such"), new_file(path):
        raise AssertionError("it was begun")
    with pytest.raises(ArchiveError, match=f"cannot read {path}: No such"), existing_file(path):
        raise AssertionError("it was begun")


def test_a_dash_is_a_standard_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=out))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"read")))
    with new_file(STANDARD_STREAM) as file:
        file.write(b"written")
    assert out.getvalue() == b"written"
    with existing_file(STANDARD_STREAM) as found:
        assert found.read() == b"read"


def _no_links(*_: Any) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))
