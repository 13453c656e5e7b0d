"""An idle session is woken by a message: once for each unread batch, and it is handed over then."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import coordrooms
from tests.acceptance.daemons import Daemon
from tests.acceptance.hosts.models import Heard, Model
from tests.acceptance.hosts.programs import PROGRAMS, Claude, Codex, Opencode, Program
from tests.acceptance.hosts.terminals import Terminal
from tests.acceptance.hosts.wires import Say, Use

GIVE_UP_AFTER_S = 90.0
MESSAGE = "The index moved to port 8081."


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + GIVE_UP_AFTER_S
    while not condition():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.05)


@contextmanager
def claude(program: Program, model: Model) -> Iterator[Callable[[], bytes]]:
    assert isinstance(program, Claude)
    with Terminal(program.interactive(), program.project, program.env) as terminal:
        # The first prompts may go out before the tools are there.
        until(lambda: b"\xe2\x9d\xaf" in terminal.screen, "a place to write a prompt")
        while not model.heard:
            before = len(model.requests)
            terminal.type("Join the room.")
            until(lambda: b"room." in terminal.screen, "the prompt on the screen")
            terminal.type("\r")
            until(lambda before=before: len(model.requests) > before, "a request")  # type: ignore[misc]
            until(lambda: _last_event(program) == "Stop" or model.heard, "an end of the turn")
        yield lambda: terminal.screen


@contextmanager
def codex(program: Program, model: Model) -> Iterator[Callable[[], bytes]]:
    assert isinstance(program, Codex)
    command = program.interactive("Join the room.")
    with Terminal(command, program.project, program.env) as terminal:
        yield lambda: terminal.screen


@contextmanager
def opencode(program: Program, model: Model) -> Iterator[Callable[[], bytes]]:
    assert isinstance(program, Opencode)
    log = program.home / "serve.log"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def call(path: str, body: Any) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=GIVE_UP_AFTER_S) as answer:
            return json.loads(answer.read() or b"null")

    with (
        log.open("wb") as output,
        subprocess.Popen(
            [program.path, "serve", "--port", str(port)],
            cwd=program.project,
            env=program.env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        ) as server,
    ):
        try:
            until(lambda: b"listening" in log.read_bytes(), "opencode serves")
            session = call("/session", {})["id"]
            part = {"type": "text", "text": "Join the room."}
            call(f"/session/{session}/prompt_async", {"parts": [part]})
            yield log.read_bytes
        finally:
            server.terminate()


SESSIONS = {"claude": claude, "codex": codex, "opencode": opencode}


@pytest.mark.parametrize("name", SESSIONS)
def test_an_idle_session_is_woken_once_for_each_batch(
    name: str, daemon: Daemon, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    PROGRAMS[name].skip_unless_there()
    with coordrooms.Client(unique("bob"), url=daemon.url) as bob, Model() as model:
        room = bob.create_room(unique("index"))
        program = PROGRAMS[name](tmp_path, daemon.url, model.url)
        program.coordrooms("install", name, "--yes")

        def join(heard: Heard) -> Use:
            arguments = {"roomName": room.ref, "conversationId": heard.conversation}
            return Use("join_room", arguments)

        model.will(join, lambda heard: Say("I am in."))
        with SESSIONS[name](program, model) as screen:
            try:
                model.until_done(GIVE_UP_AFTER_S)
                for number in (1, 2):
                    until(lambda: _parked(room), "the waker is parked in the daemon")
                    known = len(model.heard)
                    room.post(f"{MESSAGE} ({number})", "warning")
                    model.will(lambda heard: Say("Noted."))
                    model.until_done(GIVE_UP_AFTER_S)
                    woken = "".join(heard.text for heard in model.heard[known:])
                    assert f"{MESSAGE} ({number})" in woken
                    hints = set(re.findall(r"coordrooms: \d+ unread messages? by others", woken))
                    assert hints == {"coordrooms: 1 unread message by others"}
                until(lambda: _parked(room), "it is idle, and waits again")
                assert not model.failures
            except AssertionError as fault:
                raise AssertionError(f"{fault}\n{screen()[-3000:]!r}") from None
        until(lambda: not _wakers(program), "no waker outlives its host")


def _parked(room: coordrooms.Room) -> bool:
    return any(member.waiting for member in room.members())


def _last_event(program: Program) -> str | None:
    folder = program.home / ".local/state/coordrooms/sessions"
    traces = [json.loads(path.read_text() or "{}") for path in folder.glob("*.json")]
    return traces[0].get("event") if traces else None


def _wakers(program: Program) -> list[str]:
    """Processes of this home that still wait."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            line = Path("/proc", entry, "cmdline").read_bytes()
            env = Path("/proc", entry, "environ").read_bytes()
        except OSError:
            continue
        if b"hook" in line and f"HOME={program.home}".encode() in env.split(b"\0"):
            found.append(entry)
    return found
