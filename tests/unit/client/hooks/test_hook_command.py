"""`coordrooms hook` as a process: what it prints, what it confirms, and that it harms nobody."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from coordrooms.hosts import ALIASES, NAMES, load
from coordrooms.hosts.facts import STOP, WAKE, WORK
from tests.unit.client.hooks.answering import COORDROOMS, DEADLINE_S, AnsweringDaemon, Hooks, Room

HEAVY = {
    "argparse", "asyncio", "dataclasses", "http", "inspect", "logging", "ssl", "subprocess",
    "threading", "typing", "urllib", "coordrooms.public", "coordrooms.cli",
    "coordrooms.hooks.contexts", "coordrooms.hooks.wakers",
}  # fmt: skip
CURSOR = "/api/v1/cursor"
UNREAD = "/api/v1/unread"


def text_of(output: str) -> str:
    """The one text in a hook's output, whatever its host wraps it in."""
    texts: list[str] = []

    def walk(value: Any, key: str = "") -> None:
        if isinstance(value, dict):
            for name, part in value.items():
                walk(part, name)
        elif key not in ("decision", "hookEventName"):
            texts.append(value)

    walk(json.loads(output))
    [text] = texts
    return text


# --- what is printed -----------------------------------------------------------------------


def test_nothing_unread_prints_nothing(daemon: AnsweringDaemon, hooks: Hooks) -> None:
    assert hooks.run("PostToolUse") == (0, "", "")
    assert daemon.paths == [UNREAD]
    assert hooks.trace()["outcome"] == "nothing unread"


def test_nothing_unread_loads_little(daemon: AnsweringDaemon, hooks: Hooks) -> None:
    script = (
        "import sys; from coordrooms.hooks import main; code = main(sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "PostToolUse", "--host", "claude"],
        env=hooks.env,
        input=b'{"session_id": "s1"}',
        capture_output=True,
    )
    assert (done.returncode, done.stdout, daemon.paths) == (0, b"", [UNREAD])
    assert HEAVY.isdisjoint(done.stderr.decode().split())


def test_unread_is_handed_over_and_then_confirmed(daemon: AnsweringDaemon, hooks: Hooks) -> None:
    daemon.rooms[0].say("Take <b>this</b>.", kind="decision")
    code, out, err = hooks.run("PostToolUse")
    assert (code, err) == (0, "")
    answer = json.loads(out)["hookSpecificOutput"]
    assert answer["hookEventName"] == "PostToolUse"
    assert '"id": 2, "kind": "decision", "from": "bob"' in answer["additionalContext"]
    assert daemon.paths == [UNREAD, CURSOR]
    assert daemon.rooms[0].cursor == 2
    assert hooks.run("PostToolUse") == (0, "", "")


@pytest.mark.parametrize("host", NAMES)
def test_each_event_of_each_host_takes_its_form(
    host: str, daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    facts = load(host)
    assert facts is not None
    stdin = dict.fromkeys(facts.session_keys[:1], "s1")
    for number, event in enumerate(facts.events):
        if event.moment == WAKE:
            continue
        daemon.rooms[0].say(f"number {number}")
        code, out, _ = hooks.run(event.name, stdin, host=host)
        assert code == 0
        assert json.loads(out) == event.answer(text_of(out))
        if event.moment in (WORK, STOP):
            assert f"number {number}" in text_of(out)
        else:
            assert f'conversationId is "{host}-s1"' in text_of(out)


@pytest.mark.parametrize("alias", ALIASES)
def test_a_host_may_be_called_by_its_longer_name(
    alias: str, daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    stdin = {"session_id": "s1"}
    code, out, _ = hooks.run("session-start", stdin, host=alias)
    assert code == 0
    assert f'"{ALIASES[alias]}-s1"' in text_of(out)


def test_a_session_learns_its_id_though_it_is_in_no_room(
    daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    daemon.in_room = False
    _, out, _ = hooks.run("SessionStart")
    assert text_of(out).endswith("It is in no room.")
    assert CURSOR not in daemon.paths


def test_a_subagent_is_somebody_else(daemon: AnsweringDaemon, hooks: Hooks) -> None:
    stdin = {"session_id": "s1", "agent_id": "a7", "agent_type": "Explore"}
    _, out, _ = hooks.run("SubagentStart", stdin)
    assert 'conversationId is "claude-s1/a7"' in text_of(out)
    hooks.run("PostToolUse", stdin)
    names = {headers["coordrooms-conversation"] for _, _, headers, _ in daemon.requests}
    assert names == {"claude-s1/a7"}


def test_a_name_given_to_the_session_is_its_id(daemon: AnsweringDaemon, hooks: Hooks) -> None:
    hooks.env["COORDROOMS_CONVERSATION"] = "ann/claude"
    _, out, _ = hooks.run("SessionStart")
    assert 'conversationId is "ann/claude"' in text_of(out)


def test_the_daemon_is_told_how_the_session_is_reached(
    daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    hooks.run("Stop")
    hooks.run("agentStop", {"sessionId": "s1"}, host="copilot")
    assert [headers["coordrooms-wake"] for _, _, headers, _ in daemon.requests] == ["push", "hook"]


# --- nothing is lost -----------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before its output", "during", "after", "confirmed"])
def test_a_hook_that_is_killed_loses_nothing(
    moment: str, daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    room = daemon.rooms[0]
    for number in range(20):
        room.say(f"{number:02d} {'x' * 400}")
    hold = {"before its output": UNREAD, "after": CURSOR}.get(moment)
    if hold:
        daemon.held[hold] = threading.Event()
        daemon.lost.add(hold)
    with hooks.start("Stop") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if moment == "during":
            # What is printed does not fit, so the hook stands in the middle of it.
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        process.stdin.write(b'{"session_id": "s1"}')
        process.stdin.flush()
        if moment == "confirmed":
            printed = process.stdout.read()
        else:
            daemon.until_asked(hold or UNREAD)
            if moment == "during":
                printed = process.stdout.read(1)
            process.send_signal(signal.SIGKILL)
            printed = process.stdout.read()
    if hold:
        daemon.held.pop(hold).set()
    assert (CURSOR in daemon.paths) is (moment in ("after", "confirmed"))
    complete = printed.endswith(b"}\n")
    assert complete is (moment in ("after", "confirmed"))
    shown = text_of(printed.decode()) if complete else ""
    times = [shown.count(f'"{number:02d} x') for number in range(20)]
    daemon.lost.clear()
    while True:
        _, out, _ = hooks.run("Stop")
        if not out:
            break
        times = [n + text_of(out).count(f'"{i:02d} x') for i, n in enumerate(times)]
    twice = moment == "after"
    assert min(times) == 1
    assert max(times) == (2 if twice else 1)


def test_output_that_nobody_takes_confirms_nothing(daemon: AnsweringDaemon, hooks: Hooks) -> None:
    daemon.rooms[0].say("one")
    with hooks.start("Stop") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(b'{"session_id": "s1"}')
        process.stdin.close()
        assert process.wait(DEADLINE_S) == 0
    assert daemon.paths == [UNREAD]


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_stream_that_is_closed_confirms_nothing(
    closed: str, daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    daemon.rooms[0].say("one")
    line = f"{COORDROOMS} hook Stop --host claude {closed}"
    done = subprocess.run(["/bin/sh", "-c", line], env=hooks.env, input=b'{"session_id": "s1"}')
    assert done.returncode == 0
    assert CURSOR not in daemon.paths


def test_two_tools_that_end_at_once_hand_over_once(daemon: AnsweringDaemon, hooks: Hooks) -> None:
    daemon.rooms[0].say("one")
    daemon.held[UNREAD] = threading.Event()
    with hooks.start("PostToolUse") as first:
        assert first.stdin is not None
        first.stdin.write(b'{"session_id": "s1"}')
        first.stdin.close()
        first.stdin = None
        daemon.until_asked(UNREAD)
        assert hooks.run("PostToolUse") == (0, "", "")
        daemon.held[UNREAD].set()
        out, _ = first.communicate(timeout=DEADLINE_S)
    assert "one" in out.decode()
    assert daemon.paths == [UNREAD, CURSOR]


def test_each_room_is_confirmed_by_itself(daemon: AnsweringDaemon, hooks: Hooks) -> None:
    thread = Room("room_7", "peer")
    daemon.rooms.append(thread)
    daemon.rooms[0].say("in the room")
    thread.say("in the thread")
    _, out, _ = hooks.run("UserPromptSubmit")
    assert text_of(out).index('room="kitchen"') < text_of(out).index('room="room_7"')
    assert daemon.requests[-1][3] == {"cursors": {"kitchen": 2, "room_7": 2}}


# --- no harm to its host -------------------------------------------------------------------


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
