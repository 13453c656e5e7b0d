from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from coordroomsd.service import units
from coordroomsd.service.errors import ServiceError
from coordroomsd.service.plans import Plan, Scope, installation, removal
from coordroomsd.service.steps import carry_out
from tests.unit.service.machines import Machine

PROGRAM = ("/opt/coordroomsd/bin/python", "-m", "coordroomsd")
UNITS = {"coordroomsd.service", "coordroomsd.socket"}


def do(plan: Plan) -> None:
    carry_out(plan.steps, plan.afterwards)


def install(scope: Scope, *program: str) -> None:
    do(installation(scope, program or PROGRAM))


def test_for_a_user(machine: Machine) -> None:
    install(machine.user)
    assert set(machine.files) == UNITS
    start = "ExecStart=/opt/coordroomsd/bin/python -m coordroomsd serve --socket %t/"
    assert start in machine.files["coordroomsd.service"]
    assert machine.calls == [
        "systemctl daemon-reload",
        "systemctl enable --now coordroomsd.socket",
    ]
    assert machine.is_listening()


def test_for_the_machine(machine: Machine) -> None:
    install(machine.system)
    assert set(machine.files) == {*UNITS, "coordroomsd.conf"}
    sysusers, tmpfiles, *rest = machine.calls
    assert sysusers.startswith("systemd-sysusers /")
    assert tmpfiles.startswith("systemd-tmpfiles --create /")
    assert rest == ["systemctl daemon-reload", "systemctl enable --now coordroomsd.socket"]


def test_again_it_changes_nothing(machine: Machine) -> None:
    install(machine.user)
    assert installation(machine.user, PROGRAM).steps == []


def test_what_was_switched_off_by_hand_is_switched_on(machine: Machine) -> None:
    install(machine.user)
    before = machine.files
    assert machine.calls
    switched_off = removal(machine.user).steps[0]
    switched_off.do()
    assert machine.calls
    install(machine.user)
    assert machine.files == before
    assert machine.calls == ["systemctl enable --now coordroomsd.socket"]


def test_another_version_takes_the_place_of_one(machine: Machine) -> None:
    install(machine.user)
    machine.let_run()
    assert machine.calls
    install(machine.user, "/opt/other/bin/python", "-m", "coordroomsd")
    assert "ExecStart=/opt/other/bin/python " in machine.files["coordroomsd.service"]
    assert machine.calls == ["systemctl daemon-reload", "systemctl restart coordroomsd.service"]


def test_sockets_are_made_anew_while_the_service_is_down(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(machine.user)
    machine.let_run()
    assert machine.calls
    unit = units.unit

    def another(kind: str, name: str, program: tuple[str, ...]) -> str:
        return units._marked(
            unit(kind, name, program) + "\n# of another version\n", "Another advice."
        )

    monkeypatch.setattr(units, "unit", another)
    install(machine.user)
    assert machine.calls == [
        "systemctl daemon-reload",
        "systemctl stop coordroomsd.service",
        "systemctl restart coordroomsd.socket",
    ]


@pytest.mark.parametrize("name", sorted(UNITS))
@pytest.mark.parametrize("edit", ["# mine\n{}", "{}\n# mine\n", "", "{}{}"])
def test_an_edited_file_is_left_alone(machine: Machine, name: str, edit: str) -> None:
    install(machine.user)
    path = machine.user.unit_folder / name
    path.write_text(edit.format(path.read_text(), "#"))
    before, _ = machine.files, machine.calls
    refused = pytest.raises(ServiceError, match=rf"{name} was edited, .* drop-in")
    with refused:
        installation(machine.user, ["/x"])
    with refused:
        removal(machine.user)
    assert machine.files == before
    assert machine.calls == []


def test_drop_ins_stay(machine: Machine) -> None:
    folder = machine.user.unit_folder / "coordroomsd.service.d"
    folder.mkdir(parents=True)
    (folder / "override.conf").write_text("[Service]\nLimitNOFILE=1\n")
    install(machine.user)
    do(removal(machine.user))
    assert set(machine.files) == {"override.conf"}


def test_taken_back_nothing_is_left(machine: Machine) -> None:
    for scope in (machine.user, machine.system):
        install(scope)
        assert machine.calls
        do(removal(scope))
        assert machine.files == {}
        assert machine.calls == [
            "systemctl disable --now coordroomsd.socket coordroomsd.service",
            "systemctl daemon-reload",
        ]
        assert not machine.is_listening()
        assert removal(scope).steps == []


@pytest.mark.parametrize(
    "failing", ["systemd-sysusers", "systemd-tmpfiles", "daemon-reload", "enable"]
)
def test_when_a_command_fails_all_is_as_before(machine: Machine, failing: str) -> None:
    machine.let_fail(failing)
    with pytest.raises(ServiceError, match=r"Job failed.*\. Everything was put back as it was$"):
        install(machine.system)
    assert machine.files == {}
    assert not machine.is_enabled()
    assert machine.calls[-1] == "systemctl daemon-reload"
    machine.let_fail("")
    install(machine.system)
    assert machine.is_listening()


@pytest.mark.parametrize("failing", ["disable", "daemon-reload"])
def test_when_a_removal_fails_all_is_as_before(machine: Machine, failing: str) -> None:
    install(machine.system)
    before = machine.files
    machine.let_fail(failing)
    with pytest.raises(ServiceError, match="Everything was put back as it was"):
        do(removal(machine.system))
    assert machine.files == before
    assert machine.is_listening()


@pytest.mark.parametrize("nth", [1, 2, 3, 4])
def test_on_a_full_disk_all_is_as_before(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    install(machine.system)
    before = machine.files
    scope = machine.system
    calls = 0

    def full(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == nth:
            raise OSError(errno.ENOSPC, "No space left on device", "the file")

    monkeypatch.setattr(units, "_MADE_BY", units._MADE_BY + " of its own")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ServiceError, match=r"No space left on device\. Everything was put back"):
        install(scope)
    assert machine.files == before


def test_a_file_that_changes_meanwhile_is_left_alone(machine: Machine) -> None:
    plan = installation(machine.user, PROGRAM)
    machine.user.unit_folder.mkdir(parents=True)
    (machine.user.unit_folder / "coordroomsd.socket").write_text("somebody else's")
    with pytest.raises(ServiceError, match="has changed meanwhile"):
        do(plan)
    assert machine.files == {"coordroomsd.socket": "somebody else's"}


def test_folders_that_were_made_go_with_a_failure(machine: Machine, tmp_path: Path) -> None:
    machine.let_fail("enable")
    with pytest.raises(ServiceError):
        install(machine.user)
    assert not (tmp_path / "home").exists()


def test_without_systemd_it_says_so(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ServiceError, match="there is no command systemctl here"):
        install(machine.user)
    assert machine.files == {}
