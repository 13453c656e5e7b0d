from __future__ import annotations

import os
import signal
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from coordroomsd import __version__, cli, server
from coordroomsd.config import Config, load
from coordroomsd.enrolments import Offered
from coordroomsd.sockets import SocketError
from coordroomsd.store.errors import DatabaseOwnedError

URL = "postgresql://ann:secret@db.example.org/rooms"


@pytest.fixture(autouse=True)
def _a_place_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No configuration of the machine's gets in."""
    for variable in ("STATE_DIRECTORY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("CONFIGURATION_DIRECTORY", str(tmp_path))


def usage_error(*arguments: str) -> None:
    with pytest.raises(SystemExit) as raised:
        cli.main(arguments)
    assert raised.value.code == 2


def test_serve_runs_the_daemon_with_the_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served: list[Config] = []

    def serve(config: Config, read_again: Callable[[], Config]) -> int:
        served.extend((config, read_again()))
        return 7

    monkeypatch.setattr(server, "serve", serve)
    arguments = ["--state-dir", "/d", "--socket", "/s.sock", "--listen", "[::1]:80"]
    assert cli.main(["serve", *arguments, "--database-url", URL]) == 7
    [config, again] = served
    assert again == config
    assert config.state_dir == Path("/d")
    assert config.server.socket == Path("/s.sock")
    assert config.server.listen == ("::1", 80)
    assert config.database.url == URL


@pytest.mark.parametrize("failure", [DatabaseOwnedError, SocketError])
def test_what_it_cannot_start_on_is_a_sentence(
    failure: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def serve(config: Config, read_again: object) -> int:
        raise failure("it is another daemon's")

    monkeypatch.setattr(server, "serve", serve)
    assert cli.main(["serve"]) == 1
    assert capsys.readouterr().err == "coordroomsd: it is another daemon's\n"


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def serve(config: Config, read_again: object) -> int:
        raise KeyError("a bug")

    monkeypatch.setattr(server, "serve", serve)
    with pytest.raises(KeyError):
        cli.main(["serve"])


@pytest.mark.parametrize("command", ["serve", "check-config", "migrate"])
def test_each_fault_of_the_configuration_is_a_line(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[limits]\nmessage_brst = 1\nroom_burst = -1")
    assert cli.main([command]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith(f"coordroomsd: {file}: [limits] room_burst: should be ")
    assert lines[1].startswith(f"coordroomsd: {file}: [limits] message_brst: there is no such key")
    assert len(lines) == 2


def test_check_config_prints_what_is_in_force_as_toml(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[limits]\nmessage_burst = 5\n[server]\nlisten = '[::1]:8040'")
    assert cli.main(["check-config", "--state-dir", "/d", "--socket", "/s.sock"]) == 0
    out = capsys.readouterr().out
    again = tmp_path / "again.toml"
    again.write_text(out)
    state_dir, socket = Path("/d"), Path("/s.sock")
    assert load(again, state_dir=state_dir) == load(file, state_dir=state_dir, socket=socket)
    assert f"# {file} is read\n" in out
    assert "# state directory: /d (--state-dir)\n" in out
    assert 'listen = "[::1]:8040"' in out
    [burst] = [line for line in out.splitlines() if line.startswith("message_burst")]
    assert burst.split() == ["message_burst", "=", "5", "#", str(file)]


def test_check_config_says_that_there_is_no_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli.main(["check-config"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"# {tmp_path / 'config.toml'} is not there: nothing is set by file\n")
    assert set(tomllib.loads(out)["server"]) == {"socket", "mcp_socket", "hosts"}


def test_check_config_can_show_faults_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli.main(["check-config", "--quiet"]) == 0
    (tmp_path / "config.toml").write_text("[limits]\nroom_burst = -1")
    assert cli.main(["check-config", "--quiet"]) == 1
    shown = capsys.readouterr()
    assert (shown.out, len(shown.err.splitlines())) == ("", 1)


def test_no_command_shows_a_password(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["check-config", "--database-url", URL]) == 0
    assert 'url = "postgresql://ann:***@db.example.org/rooms"' in capsys.readouterr().out
    usage_error("serve", "--database-url", URL.replace("postgresql", "mysql"))
    shown = capsys.readouterr()
    assert "argument --database-url: should be like postgresql://" in shown.err
    assert "secret" not in shown.out + shown.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "COMMAND"),
        (["serv"], "serv"),
        (["serve", "now"], "now"),
        (["serve", "--listen", "here"], "argument --listen: should be HOST:PORT"),
        (["serve", "--socket", "/" + "s" * 200], "argument --socket: the path has 201 bytes"),
        (["serve", "--socket", ""], "argument --socket: should be a path"),
        (["serve", "--state-dir", ""], "argument --state-dir: should be a path"),
        (["serve", "--config", ""], "argument --config: should be a path"),
    ],
)
def test_wrong_usage(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    usage_error(*arguments)
    assert text in capsys.readouterr().err


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        cli.main(["--version"])
    assert raised.value.code == 0
    assert capsys.readouterr().out == f"coordroomsd {__version__}\n"


def test_interrupting_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def serve(config: Config, read_again: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "serve", serve)
    assert cli.main(["serve"]) == 1
    assert capsys.readouterr().err == "coordroomsd: interrupted\n"


def test_what_cannot_be_written_is_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert cli.main(["check-config"]) == 1
    told = "coordroomsd: what there is to show cannot be written: No space left on device\n"
    assert capfd.readouterr().err == told


def test_a_code_that_cannot_be_written_is_told_to_be_lost(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "offered", lambda *_: Offered("secret", "later"))
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert cli.main(["enroll", "zoe"]) == 1
    told = capfd.readouterr().err
    assert told.startswith("coordroomsd: the code for zoe cannot be written, and nobody has it now")
    assert "secret" not in told


def test_a_reader_that_has_seen_enough_is_no_failure_to_tell_of(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as unread:
        monkeypatch.setattr(sys, "stdout", unread)
        assert cli.main(["check-config"]) == 128 + signal.SIGPIPE
    assert capfd.readouterr().err == ""
