"""`coordrooms hook` as a process: what it prints, what it confirms."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from coordrooms.hosts import ALIASES, NAMES, load
from coordrooms.hosts.facts import STOP, WAKE, WORK
from tests.unit.client.hooks.answering import (
    COORDROOMS,
    DEADLINE_S,
    AnsweringDaemon,
    Hooks,
    Room,
    text_of,
)

HEAVY = {
    "argparse", "asyncio", "dataclasses", "http", "inspect", "logging", "ssl", "subprocess",
    "threading", "typing", "urllib", "coordrooms.public", "coordrooms.cli",
    "coordrooms.hooks.contexts", "coordrooms.hooks.wakers",
}  # fmt: skip
CURSOR = "/api/v1/cursor"
UNREAD = "/api/v1/unread"


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


@pytest.mark.parametrize("body", ["", "said since"])
def test_that_the_database_was_restored_is_told_once(
    body: str, daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    assert hooks.run("PostToolUse")[1] == ""
    daemon.rooms[0].generation = "g2"
    if body:
        daemon.rooms[0].say(body)
    told = text_of(hooks.run("PostToolUse")[1])
    assert "restored from an older copy" in told
    assert body in told
    assert hooks.run("PostToolUse") == (0, "", "")
    daemon.rooms[0].generation = "g3"
    assert "restored from an older copy" in hooks.run("SessionStart")[1]
    assert "restored from an older copy" not in hooks.run("SessionStart")[1]


def test_what_was_handed_over_is_confirmed_in_the_database_it_is_from(
    daemon: AnsweringDaemon, hooks: Hooks
) -> None:
    daemon.rooms[0].say("one")
    hooks.run("PostToolUse")
    assert daemon.requests[-1][1] == f"{CURSOR}?generation=g1"


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
                # Past the buffer, which would take all there is and let the hook go on.
                os.read(process.stdout.fileno(), 1)
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
