"""`coordrooms hook` does its host no harm, whatever goes wrong."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.unit.client.hooks.answering import DEADLINE_S, AnsweringDaemon, Hooks, text_of

CURSOR = "/api/v1/cursor"
UNREAD = "/api/v1/unread"


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"rubbish",
        b"[1]",
        b"{}",
        b'{"session_id": 7}',
        b"\xff\xfe",
        b'{"session_id": "a\\u0007"}',
    ],
)
def test_rubbish_is_one_line_in_the_log(
    stdin: bytes, daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    code, out, err = hooks.run("Stop", stdin)
    assert (code, out) == (0, "")
    assert err.startswith("coordrooms hook Stop --host claude: ")
    assert err.count("\n") == 1
    [line] = hooks.log
    assert line.endswith(err.rstrip())
    assert daemon.requests == []


def test_standard_input_that_stays_open_is_not_waited_for(
    daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    with hooks.start("PostToolUse") as process:
        assert process.stdin is not None
        process.stdin.write(b'{"session_id": "s1", "tool_response": {"a": "}"}}')
        process.stdin.flush()
        assert process.wait(DEADLINE_S) == 0
    assert daemon.paths == [UNREAD]


def test_standard_input_without_a_word_ends_the_hook(hooks: Hooks) -> None:
    with hooks.start("PostToolUse") as process:
        assert process.wait(DEADLINE_S) == 0
    assert len(hooks.log) == 1


@pytest.mark.parametrize(
    "reply", [b"", b"220 smtp\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{]"]
)
def test_an_answer_of_another_kind_is_one_line_in_the_log(reply: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(DEADLINE_S)

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        _is_told(Hooks(tmp_path / "home", f"unix:{path}"))
        thread.join()


@pytest.mark.parametrize("deaf", [True, False])
def test_a_daemon_that_is_away_is_one_line_in_the_log(deaf: bool, tmp_path: Path) -> None:
    path = tmp_path / "away.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        if deaf:
            listener.bind(str(path))
        _is_told(Hooks(tmp_path / "home", f"unix:{path}"))


def _is_told(hooks: Hooks) -> None:
    code, out, err = hooks.run("Stop")
    assert (code, out) == (0, "")
    assert "no answer from the daemon" in err
    assert len(hooks.log) == err.count("\n") == 1
    assert hooks.trace()["outcome"].startswith("no answer from the daemon")


def test_a_host_that_shows_errors_is_spared_them(hooks: Hooks) -> None:
    assert hooks.run("AfterTool", b"rubbish", host="gemini") == (0, "", "")
    assert len(hooks.log) == 1


def test_an_event_that_nobody_knows_is_no_failure(hooks: Hooks) -> None:
    code, out, _ = hooks.run("PreCompact")
    assert (code, out) == (0, "")
    assert len(hooks.log) == 1


@pytest.mark.parametrize(
    "arguments", [[], ["Stop"], ["Stop", "--host", "emacs"], ["--fly", "Stop"]]
)
def test_wrong_usage_is_told_to_whoever_typed_it(arguments: list[str], hooks: Hooks) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "coordrooms", "hook", *arguments],
        env=hooks.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"usage: coordrooms hook EVENT --host HOST")


def test_a_home_that_cannot_be_written_costs_the_trace_alone(
    daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    daemon.rooms[0].say("one")
    hooks.env["XDG_STATE_HOME"] = "/proc/nowhere"
    code, out, err = hooks.run("Stop")
    assert (code, err) == (0, "")
    assert "one" in text_of(out)


def test_files_are_for_their_owner_alone(hooks: Hooks) -> None:
    hooks.run("Stop")
    hooks.run("Stop", b"rubbish")
    state = hooks.home / "state"
    modes = {oct(path.stat().st_mode & 0o777) for path in state.rglob("*") if path.is_file()}
    assert modes == {"0o600"}
    folders = {oct(path.stat().st_mode & 0o777) for path in state.rglob("*") if path.is_dir()}
    assert folders == {"0o700"}


def test_the_log_does_not_grow_for_ever(hooks: Hooks) -> None:
    hooks.run("Stop", b"rubbish")
    log = hooks.home / "state/coordrooms/hooks.log"
    log.write_bytes(b"x" * 300_000)
    hooks.run("Stop", b"rubbish")
    hooks.run("Stop", b"rubbish")
    assert log.stat().st_size < 1000
    assert os.path.exists(f"{log}.1")
