"""`coordroomsd enroll`: what it asks the daemon, what it prints, how it fails."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordroomsd import cli
from tests.unit.client.fake_daemons import Answer, FakeDaemon, whole

OFFERED = {"code": "-the-code", "expires_at": "2026-01-02T03:04:05.678Z"}


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeDaemon]:
    monkeypatch.setenv("CONFIGURATION_DIRECTORY", str(tmp_path))
    with tempfile.TemporaryDirectory(prefix="coordrooms-") as directory:
        daemon = FakeDaemon(Path(directory, "d.sock"))
        daemon.start()
        yield daemon
        daemon.stop()


def enroll(daemon: FakeDaemon, *arguments: str) -> int:
    places = ["--state-dir", "/nowhere", "--socket", str(daemon.path)]
    return cli.main(["enroll", *arguments, *places])


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([], {"kind": "agent", "role": "agent"}),
        (["--kind", "human"], {"kind": "human", "role": "human"}),
        (["--role", "human"], {"kind": "human", "role": "human"}),
        (["--role", "operator"], {"kind": "human", "role": "operator"}),
        (["--role", "operator", "--kind", "agent"], {"kind": "agent", "role": "operator"}),
        (
            ["--expires-in", "60", "--project", "p"],
            {"kind": "agent", "role": "agent", "expires_in_s": 60, "project": "p"},
        ),
    ],
)
def test_what_is_asked(arguments: list[str], asked: dict[str, object], daemon: FakeDaemon) -> None:
    daemon.answer(whole(OFFERED, 201))
    assert enroll(daemon, "ann", *arguments) == 0
    request = daemon.request()
    assert request is not None
    assert (request.method, request.path) == ("POST", "/enrollments")
    assert request.body == {"name": "ann", **asked}
    # Whoever names a participant is no operator.
    assert "coordrooms-conversation" not in request.headers


def test_the_code_is_alone_on_standard_output(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answer(whole(OFFERED, 201))
    assert enroll(daemon, "ann b", "--role", "operator") == 0
    shown = capsys.readouterr()
    assert shown.out == "-the-code\n"
    assert "-the-code" not in shown.err
    assert "ann b comes in with this code as operator (kind human), once, until 2026-" in shown.err
    assert "\n    coordrooms me 'ann b' --code\n" in shown.err
    assert "it serves no TCP address" in shown.err


@pytest.mark.parametrize(
    ("configuration", "url"),
    [
        ('listen = "127.0.0.1:8040"', "http://127.0.0.1:8040"),
        ('listen = "127.0.0.1:8040"\nhosts = ["rooms.example.org"]', "https://rooms.example.org"),
    ],
)
def test_the_next_step_names_the_address(
    configuration: str,
    url: str,
    daemon: FakeDaemon,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    (tmp_path / "config.toml").write_text(f"[server]\n{configuration}\n")
    daemon.answer(whole(OFFERED, 201))
    assert enroll(daemon, "ann") == 0
    shown = capsys.readouterr().err
    assert shown.endswith(f"\n    coordrooms me ann --code --url {url}\n")


@pytest.mark.parametrize(
    ("problem", "status", "sentence"),
    [
        (
            {"code": "participant_conflict", "detail": "ann is used.", "recovery": "Take ben."},
            409,
            "ann is used. Take ben.",
        ),
        (
            {"code": "forbidden", "detail": "Only the operator may.", "recovery": "Ask."},
            403,
            "Only the operator may. Run this as root or as the user that the daemon runs as.",
        ),
        (
            {
                "code": "invalid_arguments",
                "errors": [
                    {"field": "name", "problem": "is blank"},
                    {"field": "expires_in_s", "problem": "is too small"},
                ],
            },
            400,
            "name is blank. expires_in_s is too small.",
        ),
    ],
)
def test_a_refusal_is_a_sentence(
    problem: dict[str, object],
    status: int,
    sentence: str,
    daemon: FakeDaemon,
    capsys: pytest.CaptureFixture[str],
) -> None:
    daemon.answer(whole(problem, status))
    assert enroll(daemon, "ann") == 3
    assert capsys.readouterr() == ("", f"coordroomsd: {sentence}\n")


@pytest.mark.parametrize("reply", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\n\r\nnonsense"])
def test_what_is_no_daemon(
    reply: bytes, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answer(Answer((reply,), "close"))
    assert enroll(daemon, "ann") == 4
    assert f"coordroomsd: no daemon can be reached at {daemon.path}: " in capsys.readouterr().err


def test_no_daemon(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.stop()
    assert enroll(daemon, "ann") == 4
    assert "Start it with coordroomsd serve" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")
def test_a_socket_that_may_not_be_opened(daemon: FakeDaemon) -> None:
    assert daemon.path is not None
    daemon.path.chmod(0o600)
    daemon.path.parent.chmod(0o711)
    code = (
        "import os, sys; from coordroomsd import cli; os.setgid(65534); os.setuid(65534); "
        f"sys.exit(cli.main(['enroll', 'ann', '--state-dir', '/x', '--socket', '{daemon.path}']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"CONFIGURATION_DIRECTORY": "/nowhere"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 4
    assert "may not be opened. Run this as root or as the user" in done.stderr
