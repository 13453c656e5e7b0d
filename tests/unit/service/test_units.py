from __future__ import annotations

from pathlib import Path

import pytest

from coordroomsd.service import interpreters, units
from coordroomsd.service.errors import ServiceError


def test_a_path_with_spaces_stays_one_word() -> None:
    text = units.unit("system", "coordroomsd.service", ["/opt/my rooms/python", "-m", "x"])
    assert 'ExecStart="/opt/my rooms/python" -m x serve\n' in text
    assert ' "/opt/my rooms/python" -m x check-config --quiet\n' in text
    assert "Description=Rooms" in text


@pytest.mark.parametrize("sign", ['"', "'", "\\", "%", "$", ";", "\n", "\x1b", "é\u2028"])
def test_a_path_with_signs_that_mean_something_is_refused(sign: str) -> None:
    with pytest.raises(ServiceError, match="plain path"):
        units.unit("system", "coordroomsd.service", [f"/opt/a{sign}b/python"])


def test_every_file_is_known_again_until_it_is_edited() -> None:
    for text in (
        units.unit("user", "coordroomsd.socket", ["/x"]),
        units.unit("system", "coordroomsd.service", ["/x"]),
        units.companion("coordroomsd.sysusers"),
    ):
        assert units.is_as_made(text)
        assert not units.is_as_made(text + "\n")
        assert not units.is_as_made(text.replace("rooms", "roms"))
        assert not units.is_as_made(text.partition("\n")[2])


@pytest.mark.parametrize("folder", ["/home/ann/.local/venv", "/root/venv", "/tmp/venv"])
def test_what_a_system_service_cannot_see_is_refused(folder: str) -> None:
    with pytest.raises(ServiceError, match=r"may not look\. .* --user"):
        interpreters.check_fit_for_the_system(Path(folder, "bin/python"))


def test_an_environment_of_one_run_is_refused() -> None:
    with pytest.raises(ServiceError, match="uv tool install"):
        interpreters.check_stays(Path("/home/ann/.cache/uv/archive-v0/x/bin/python"))


def test_what_its_user_may_not_enter_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreters, "_HIDDEN", ())
    monkeypatch.setattr("sys.base_prefix", "/usr")
    monkeypatch.setattr(interpreters, "__file__", "/usr/bin/env")
    python = tmp_path / "venv/python"
    python.parent.mkdir()
    python.touch(0o755)
    interpreters.check_fit_for_the_system(Path("/bin/sh"))
    python.parent.chmod(0o750)
    with pytest.raises(ServiceError, match="may not look into"):
        interpreters.check_fit_for_the_system(python)


@pytest.mark.parametrize(
    ("kind", "name", "command"),
    [
        ("system", "coordroomsd.service", "systemctl edit coordroomsd.service"),
        ("user", "coordroomsd.socket", "systemctl --user edit coordroomsd.socket"),
    ],
)
def test_a_unit_tells_how_it_is_changed(kind: str, name: str, command: str) -> None:
    head, *_ = units.unit(kind, name, ["/usr/bin/coordroomsd"]).splitlines()
    assert head.endswith(f"a drop-in: {command}")
