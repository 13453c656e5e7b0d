"""The words under which the command is registered."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coordrooms.install.plans import program


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A virtual environment with the command, and an empty folder on the PATH."""
    command = tmp_path / "venv" / "bin" / "coordrooms"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    (tmp_path / "local").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "local"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(sys, "argv", [str(command), "install"])
    return tmp_path


def test_a_path_where_no_shell_finds_it(places: Path) -> None:
    assert program() == [str(places / "venv/bin/coordrooms")]


def test_a_path_where_an_activated_environment_finds_it(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(places / "venv/bin"))
    assert program() == [str(places / "venv/bin/coordrooms")]


def test_the_name_where_every_shell_finds_it(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = places / "local" / "coordrooms"
    link.symlink_to(places / "venv/bin/coordrooms")
    monkeypatch.setattr(sys, "argv", ["coordrooms", "install"])
    assert program() == ["coordrooms"]


def test_a_path_where_the_name_is_another_one(places: Path) -> None:
    other = places / "local" / "coordrooms"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    assert program() == [str(places / "venv/bin/coordrooms")]


def test_the_module_where_there_is_no_command(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/x/coordrooms/__main__.py"])
    monkeypatch.setattr(sys, "executable", str(places / "bare/bin/python"))
    assert program() == [str(places / "bare/bin/python"), "-P", "-m", "coordrooms"]
