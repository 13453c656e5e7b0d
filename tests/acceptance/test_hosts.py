"""Two agents in two hosts, the real programs: each installed, joined, asked, answered, taken back.

The model of each is a server on loopback; no network and no key is needed. A program that is not
there is skipped (`hosts/programs.py` says how to get them).
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import coordrooms
from tests.acceptance.daemons import Daemon
from tests.acceptance.hosts.models import Heard, Model
from tests.acceptance.hosts.programs import ENDS_WITHIN_S, PROGRAMS, Program
from tests.acceptance.hosts.wires import Say, Use

PAIRS = [
    ("claude", "codex"),
    ("codex", "gemini"),
    ("gemini", "opencode"),
    ("opencode", "copilot"),
    ("copilot", "claude"),
]
QUESTION = "Which port does the index listen on?"
ANSWER = "It listens on port 8080."
PATIENCE_S = 60


class Meeting:
    """What the two models do, each in its turn, and what they saw. `room` has been made."""

    def __init__(self, room: coordrooms.Room) -> None:
        self._room = room
        self._second_is_in = threading.Event()
        self._asked = threading.Event()
        self.waits: list[str] = []
        self.conversations: list[str] = []

    # --- the first asks and waits ------------------------------------------------------------

    def join(self, heard: Heard) -> Use:
        self.conversations.append(heard.conversation)
        arguments = {"roomName": self._room.ref, "conversationId": heard.conversation}
        return Use("join_room", arguments)

    def ask(self, heard: Heard) -> Use:
        assert self._second_is_in.wait(PATIENCE_S), "the second never joined"
        messages = [{"kind": "question", "body": QUESTION}]
        arguments = {"conversationId": heard.conversation, "messages": messages}
        return Use("write_messages", arguments)

    def wait_for_the_answer(self, heard: Heard) -> Use:
        self._asked.set()
        wake_on = [f"answer:{self._question()}"]
        arguments = {
            "conversationId": heard.conversation,
            "room": self._room.ref,
            "after_seq": self._question(),
            "wake_on": wake_on,
            "timeout_s": 45,
        }
        return Use("wait", arguments)

    def hear_the_answer(self, heard: Heard) -> Say:
        self.waits.append(heard.text)
        return Say("The answer is there.")

    # --- the second is told by its hook, and answers -----------------------------------------

    def look_around(self, heard: Heard) -> Use:
        self._second_is_in.set()
        assert self._asked.wait(PATIENCE_S), "the first never asked"
        return Use("list_active_rooms", {})

    def answer(self, heard: Heard) -> Use:
        # Gemini CLI escapes the brackets of what a hook adds.
        delivered = re.findall(
            r"coordrooms-messages room=.*?/coordrooms-messages", heard.text, re.S
        )
        assert len(delivered) == 1, f"handed over {len(delivered)} times:\n{heard.text[-3000:]}"
        assert QUESTION in delivered[0]
        assert re.search(rf'"id\\*": {self._question()},', delivered[0])
        message = {"kind": "answer", "body": ANSWER, "replyToMessageId": self._question()}
        arguments = {"conversationId": heard.conversation, "messages": [message]}
        return Use("write_messages", arguments)

    def rest(self, heard: Heard) -> Say:
        return Say("Answered.")

    def _question(self) -> int:
        [question] = [m for m in self._room.history().messages if m.kind == "question"]
        return question.id


def ended(process: subprocess.Popen[str]) -> str:
    try:
        output, _ = process.communicate(timeout=ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        raise AssertionError(f"it did not end:\n{output[-4000:]}") from None
    assert process.returncode == 0, output[-4000:]
    return output


def taken_back(program: Program, before: dict[str, bytes], installed: dict[str, bytes]) -> None:
    """All files are as they were; one that the host itself has written since is without ours."""
    used = program.files()
    program.coordrooms("uninstall", program.name, "--yes")
    after = program.files()
    changed = [name for name in installed if installed[name] != before.get(name)]
    assert changed
    for name in changed:
        if used[name] == installed[name]:
            assert after.get(name) == before.get(name), name
        else:
            assert b"coordrooms" not in after.get(name, b""), name


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_hosts_hear_each_other(
    first: str, second: str, daemon: Daemon, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    for name in (first, second):
        PROGRAMS[name].skip_unless_there()
    with (
        coordrooms.Client(unique("bob"), url=daemon.url) as bob,
        Model() as asker,
        Model() as answerer,
    ):
        meeting = Meeting(bob.create_room(unique("index")))
        asker.will(meeting.join, meeting.ask, meeting.wait_for_the_answer, meeting.hear_the_answer)
        answerer.will(meeting.join, meeting.look_around, meeting.answer, meeting.rest)
        programs = [
            PROGRAMS[first](tmp_path / "first", daemon.url, asker.url),
            PROGRAMS[second](tmp_path / "second", daemon.url, answerer.url),
        ]
        before = [program.files() for program in programs]
        for program in programs:
            program.coordrooms("install", program.name, "--yes")
        installed = [program.files() for program in programs]
        processes = [program.start("Join the room and decide.") for program in programs]
        outputs = [ended(process) for process in processes]
        for model, output in zip((asker, answerer), outputs, strict=True):
            assert not model.failures, (model.failures, output[-2000:])
            assert len(model.heard) >= 4, (model.requests, output[-4000:])
        [waited] = meeting.waits
        assert ANSWER in waited
        assert sorted(name.partition("-")[0] for name in meeting.conversations) == sorted(
            [first, second]
        )
        said = [
            (m.author.conversation_id.partition("-")[0], m.body)
            for m in bob.room(meeting._room.ref).history().messages
            if m.author
        ]
        assert said == [(first, QUESTION), (second, ANSWER)]
        for program, was, then in zip(programs, before, installed, strict=True):
            assert "ok    " + program.name + " fired" in program.coordrooms("doctor", program.name)
            taken_back(program, was, then)
