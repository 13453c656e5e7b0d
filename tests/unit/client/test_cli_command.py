"""The command without a daemon: help, usage, exit codes, errors."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import coordrooms.cli.commands
from coordrooms.cli import main
from coordrooms.cli.failures import FailedError, WrongUsageError, guarded, text_of
from coordrooms.cli.outputs import Output
from coordrooms.errors import (
    ConfigurationError,
    DaemonUnreachableError,
    UnexpectedAnswerError,
)
from coordrooms.refusals import refusal
from coordroomsd.domain.errors import CODES

COMMANDS = sorted(
    path.stem
    for path in Path(coordrooms.cli.commands.__file__).parent.glob("*.py")
    if path.stem != "__init__"
)
NOWHERE = "unix:/nonexistent/coordrooms.sock"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COORDROOMS_URL", NOWHERE)
    for name in ("COORDROOMS_CONVERSATION", "COORDROOMS_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)


def ended(arguments: list[str]) -> int:
    """The exit code; argparse ends by raising it."""
    try:
        return main(arguments)
    except SystemExit as end:
        return int(end.code or 0)


# --- help and usage ------------------------------------------------------------------------


def test_help_names_every_command_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(["--help"]) == 0
    shown, complaint = capsys.readouterr()
    listed = shown.partition("commands:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in listed.splitlines()] == COMMANDS
    assert complaint == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name in ("mcp", "hook"):
        pytest.skip("its help is its own")
    assert ended([name, "--help"]) == 0
    assert f"usage: coordrooms {name}" in capsys.readouterr().out


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(["--version"]) == 0
    assert capsys.readouterr().out == f"coordrooms {coordrooms.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["rooms", "--no-such-option"],
        ["join"],
        ["leave"],
        ["members"],
        ["tail"],
        ["tail", "x", "-n", "few"],
        ["tail", "x", "-n", "-1"],
        ["say", "x"],
        ["say", "x", "body", "--reply-to", "three"],
        ["say", "x", "body", "--key", ""],
        ["say", "x", "body", "--key", "a b"],
        ["say", "x", "body", "--key", "a\r\nHost: b"],
        ["say", "x", "body", "--key", "é"],
        ["say", "x", "body", "--key", "x" * 256],
        ["wait"],
        ["wait", "x", "--after", "now"],
        ["wait", "x", "--timeout", "-1"],
        ["wait", "x", "--timeout", "nan"],
        ["wait", "x", "--timeout", "inf"],
        ["status", "x"],
        ["status", "x", "text", "--clear"],
        ["status", "x", "--clear", "--for", "60"],
        ["react", "x", "3"],
        ["react", "x", "three", "ack"],
        ["claim", "x"],
        ["claim", "x", "key", "--lease", "1h"],
        ["release", "x"],
        ["claims"],
        ["demo", "--pace", "slow"],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(arguments) == 2
    shown, complaint = capsys.readouterr()
    assert shown == ""
    assert complaint.strip()
    assert "Traceback" not in complaint


def test_a_misspelt_command_is_answered_with_the_near_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ended(["clam"]) == 2
    assert "Did you mean 'claim'?" in capsys.readouterr().err


def test_a_url_that_names_no_daemon(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(["rooms", "--url", "ftp://x"]) == 2
    assert "'ftp://x', cannot be used" in capsys.readouterr().err


# --- a daemon out of reach -----------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["rooms"],
        ["join", "x"],
        ["leave", "x"],
        ["members", "x"],
        ["tail", "x"],
        ["say", "x", "hello"],
        ["wait", "x"],
        ["status", "x", "text"],
        ["react", "x", "3", "ack"],
        ["claim", "x", "k"],
        ["release", "x", "k"],
        ["claims", "x"],
        ["demo"],
    ],
    ids=" ".join,
)
def test_a_daemon_out_of_reach(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(arguments) == 4
    shown, complaint = capsys.readouterr()
    assert shown == ""
    assert complaint.count("\n") == 1
    assert NOWHERE in complaint
    assert "Start it with `coordroomsd serve`" in complaint


def test_errors_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(["rooms", "--json"]) == 4
    shown, complaint = capsys.readouterr()
    assert shown == ""
    assert json.loads(complaint)["code"] == "daemon_unreachable"


# --- how a command ends --------------------------------------------------------------------

REFUSED = refusal({"code": "room_not_found", "detail": "No x.", "recovery": "Make x."}, 404)


@pytest.mark.parametrize(
    ("error", "code", "named"),
    [
        (REFUSED, 3, "room_not_found"),
        (DaemonUnreachableError("It is away.", "unix:/x"), 4, "daemon_unreachable"),
        (WrongUsageError("Say x or y."), 2, "wrong_usage"),
        (ConfigurationError("No token."), 2, "configuration_invalid"),
        (UnexpectedAnswerError("It is another program."), 1, "failed"),
        (FailedError("It failed."), 1, "failed"),
    ],
)
def test_exit_codes(
    error: Exception, code: int, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise error

    assert guarded(Output("coordrooms x", as_json=False), fail) == code
    assert capsys.readouterr().err == f"coordrooms x: {error}\n"
    assert guarded(Output("coordrooms x", as_json=True), fail) == code
    document = json.loads(capsys.readouterr().err)
    assert document["code"] == named
    assert document["detail"]


@pytest.mark.parametrize(
    ("recovery", "told"),
    [
        (CODES["conversation_required"].recovery, "Say who acts with --as ID"),
        (CODES["unauthorized"].recovery, "`coordrooms me NAME`"),
        (CODES["invalid_arguments"].recovery, "It is so."),
        ("Run this as root.", "Run this as root."),
    ],
)
def test_advice_is_for_the_command_line(recovery: str, told: str) -> None:
    problem = {"code": "unauthorized", "detail": "It is so.", "recovery": recovery}
    text = text_of(refusal(problem, 401))
    assert text.startswith("unauthorized: It is so.")
    assert told in text
    assert "`errors`" not in text
    assert "header" not in text
    assert "Bearer" not in text


def test_an_error_cannot_draw_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Output("coordrooms x", as_json=False).fail("There is no room '\x1b[2J'.", {})
    assert capsys.readouterr().err == "coordrooms x: There is no room '\\x1b[2J'.\n"


def test_an_interrupt_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt() -> int:
        raise KeyboardInterrupt

    assert guarded(Output("coordrooms x", as_json=False), interrupt) == 128 + signal.SIGINT
    assert capsys.readouterr() == ("", "")


def test_a_closed_pipe_is_quiet() -> None:
    program = (
        "import sys; sys.argv = ['coordrooms', '--help'];"
        "from coordrooms.cli.failures import guarded; from coordrooms.cli.outputs import Output;"
        "out = Output('x', as_json=False);"
        "sys.exit(guarded(out, lambda: [out.line('y' * 999) for _ in range(999)] and 0))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 128 + signal.SIGPIPE


def test_text_that_an_old_terminal_cannot_show_is_escaped() -> None:
    program = (
        "from coordrooms.cli import main; main(['--version']);"
        "from coordrooms.cli.outputs import Output; Output('x', as_json=False).line('日本')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert done.stdout.splitlines()[1] == rb"\u65e5\u672c"


def test_colours_need_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown(terminal: bool, **environment: str) -> str:
        for name in ("NO_COLOR", "TERM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
        return Output("x", as_json=False).style.bold("x")

    assert shown(terminal=False) == "x"
    assert shown(terminal=True) == "\x1b[1mx\x1b[0m"
    assert shown(terminal=True, NO_COLOR="1") == "x"
    assert shown(terminal=True, TERM="dumb") == "x"


def test_a_token_that_others_may_read_is_a_warning_of_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret")
    token.chmod(0o644)
    monkeypatch.setenv("COORDROOMS_TOKEN_FILE", str(token))
    assert ended(["rooms"]) == 4
    warning, error = capsys.readouterr().err.splitlines()
    assert warning.startswith("coordrooms: warning: the token file")
    assert NOWHERE in error
    assert "s3cret" not in warning + error


COMMAND = [sys.executable, "-m", "coordrooms"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["say", "--help"]])
def test_output_that_cannot_be_written_is_told_in_a_line(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith("coordrooms: What there is to show cannot be written: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_standard_stream_may_be_closed(closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *COMMAND, "say", "kitchen", "-"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 4
    assert "Traceback" not in done.stderr


def test_what_may_be_posted_already_is_told_how_to_repeat(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = ["say", "kitchen", "hello", "--as", "me"]
    assert ended([*said, "--key", "k-1"]) == 4
    assert "`--key k-1` repeats it without saying it twice" in capsys.readouterr().err
    assert ended(said) == 4
    assert re.search(r"`--key [\w-]{16,}` repeats it", capsys.readouterr().err)
