from __future__ import annotations

import io
import os

import pytest

from coordroomsd import cli
from coordroomsd.service import commands
from tests.unit.service.machines import Machine


def said(capsys: pytest.CaptureFixture[str]) -> str:
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_there_and_back(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["install-service", "--user", "--yes"]) == 0
    text = said(capsys)
    assert f"write {machine.user.unit_folder}/coordroomsd.socket\n" in text
    assert "run systemctl --user enable --now coordroomsd.socket\n" in text
    assert "loginctl enable-linger" in text
    assert machine.is_listening()
    assert cli.main(["install-service", "--user"]) == 0
    assert said(capsys) == "coordroomsd is installed already; nothing to change.\n"
    assert cli.main(["uninstall-service", "--user", "--yes"]) == 0
    assert f"remove {machine.user.unit_folder}/coordroomsd.socket\n" in said(capsys)
    assert machine.files == {}
    assert cli.main(["uninstall-service", "--user", "--yes"]) == 0
    assert said(capsys) == "coordroomsd is not installed as a service here.\n"


def test_a_look_shows_every_line_and_changes_nothing(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["install-service", "--user", "--dry-run"]) == 0
    text = said(capsys)
    assert "      ListenStream=%t/coordroomsd.sock\n" in text
    assert machine.files == {}
    assert machine.calls == []


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_it_asks_once(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    code: int,
) -> None:
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert cli.main(["install-service", "--user"]) == code
    assert said(capsys).count("[y/N]") == 1
    assert machine.is_listening() == (code == 0)
    assert bool(machine.files) == (code == 0)


def test_without_a_terminal_it_cannot_ask(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert cli.main(["install-service", "--user"]) == 1
    assert "give --yes" in said(capsys)
    assert machine.files == {}


def test_the_machine_is_roots(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert cli.main(["install-service", "--yes"]) == 1
    assert "use sudo, or give --user" in said(capsys)


def test_a_manager_that_does_not_answer_is_told_of_before_anything_is_asked(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.let_fail("show")
    assert cli.main(["install-service", "--user", "--yes"]) == 1
    assert said(capsys) == (
        "coordroomsd: systemctl --user show --property=Version failed: Job failed.\n"
    )
    assert machine.files == {}


def test_two_at_once_are_one_after_the_other(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.user.unit_folder.mkdir(parents=True)
    with commands._alone(machine.user):
        assert cli.main(["install-service", "--user", "--yes"]) == 1
    assert "somebody else is changing" in said(capsys)
    assert machine.files == {}
