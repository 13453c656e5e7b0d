from __future__ import annotations

from pathlib import Path

from coordroomsd.store.file_locks import FileLock


def test_one_holds_it_until_it_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with FileLock(path) as first, FileLock(path) as second:
        assert first.acquire()
        assert not second.acquire()
        first.close()
        assert second.acquire()


def test_a_removed_file_is_held_by_nobody(tmp_path: Path) -> None:
    """Whoever had opened it before would hold a file that no other finds."""
    path = tmp_path / "lock"
    with FileLock(path) as first, FileLock(path) as second, FileLock(path) as third:
        assert first.acquire()
        first.remove()
        assert not path.exists()
        assert second.acquire()
        assert path.exists()
        assert not third.acquire()
        second.write_note("second")
        assert third.read_note() == "second"


def test_the_holder_of_a_removed_file_is_not_confused(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with FileLock(path) as first, FileLock(path) as second:
        assert first.acquire()
        first.remove()
        with FileLock(path) as newcomer:
            assert newcomer.acquire()
            assert not second.acquire()
