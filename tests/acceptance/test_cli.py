"""The command and the daemon: what each command does, prints, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator

import pytest

from coordrooms import Client, Room
from tests.acceptance.daemons import Daemon
from tests.polling import GIVE_UP_AFTER_S, block_until

Unique = Callable[[str], str]
Run = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = [sys.executable, "-m", "coordrooms"]


@pytest.fixture
def environment(daemon: Daemon) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {"COORDROOMS_URL": daemon.url, "TERM": "xterm", "PYTHONPATH": "client"}


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Runs a command to its end, which must be the given exit code."""

    def run(
        *arguments: str, code: int = 0, stdin: str = "", **more: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*COMMAND, *arguments],
            env=environment | more,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=GIVE_UP_AFTER_S,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def ann(daemon: Daemon, unique: Unique) -> Iterator[Room]:
    """A room that Ann made and Bob has joined."""
    with Client(unique("ann"), url=daemon.url) as client:
        room = client.create_room(unique("room"))
        with Client(unique("bob"), url=daemon.url) as other:
            other.join(room.ref)
        yield room


@pytest.fixture
def bob(daemon: Daemon, unique: Unique, ann: Room) -> Iterator[Room]:
    with Client(unique("bob"), url=daemon.url) as client:
        yield client.room(ann.ref)


def acting_as(room: Room) -> tuple[str, str]:
    assert room.client.conversation is not None
    return ("--as", room.client.conversation)


def bodies(room: Room) -> list[str]:
    return [message.body for message in room.history().messages]


# --- rooms ---------------------------------------------------------------------------------


def test_joining_and_leaving(run: Run, unique: Unique) -> None:
    name, ann, bob = unique("Kitchen"), unique("ann"), unique("bob")
    assert "room_not_found" in run("join", name, "--as", ann, code=3).stderr
    assert run("join", name, "--create", "--as", ann).stdout == (
        f"{ann} is in {unique('kitchen')}, event 1 of 1.\n"
    )
    joined = json.loads(run("join", name, "--create", "--json", "--as", bob).stdout)
    assert (joined["room"]["name"], joined["next_after_seq"]) == (name, 2)
    assert name in run("rooms").stdout
    assert run("leave", name, "--as", bob).stdout == f"{bob} left {unique('kitchen')}.\n"
    left = json.loads(run("leave", name, "--json", "--as", ann).stdout)
    assert left["membership"]["state"] == "inactive"
    assert name not in run("rooms").stdout
    assert name in run("rooms", "--all").stdout
    rows = json.loads(run("rooms", "--all", "--json").stdout)["rooms"]
    assert [row["active_members"] for row in rows if row["name"] == name] == [0]


def test_members_are_a_list_where_there_is_no_terminal(run: Run, ann: Room, bob: Room) -> None:
    bob.set_status("reading the diff")
    shown = run("members", ann.ref, *acting_as(ann)).stdout
    assert "\x1b" not in shown
    heads, *rows = shown.splitlines()
    assert heads.split()[:3] == ["NAME", "KIND", "STATE"]
    assert len(rows) == 2
    assert re.search(r"reading the diff \(for \d+s, 4m left\)", rows[1])
    document = json.loads(run("members", ann.ref, "--json", *acting_as(ann)).stdout)
    assert [row["state"] for row in document["members"]] == ["active", "active"]


# --- messages ------------------------------------------------------------------------------


def test_saying(run: Run, ann: Room, bob: Room) -> None:
    assert run("say", ann.ref, "hello", *acting_as(ann)).stdout == "Posted as status 3.\n"
    run("say", ann.ref, "Which port?", "--kind", "question", *acting_as(ann))
    posted = run("say", ann.ref, "8080", "--reply-to", "4", "--json", *acting_as(bob)).stdout
    assert json.loads(posted)["messages"][0]["kind"] == "answer"
    run("say", ann.ref, "-", stdin="from\na pipe", COORDROOMS_CONVERSATION=acting_as(bob)[1])
    run("say", ann.ref, "- a list", *acting_as(bob))
    assert bodies(ann) == ["hello", "Which port?", "8080", "from\na pipe", "- a list"]


def test_saying_again_under_the_same_key(run: Run, ann: Room) -> None:
    for _ in range(2):
        said = run("say", ann.ref, "once", "--key", "k-1", *acting_as(ann)).stdout
        assert said == "Posted as status 3.\n"
    assert bodies(ann) == ["once"]


def test_what_the_daemon_refuses(run: Run, ann: Room, unique: Unique) -> None:
    complaint = run("say", ann.ref, "hello", "--as", unique("cat"), code=3).stderr
    assert complaint.startswith("coordrooms say: membership_not_found: ")
    assert complaint.endswith("Join the room first.\n")
    refused = run("say", ann.ref, "hello", "--json", "--as", unique("cat"), code=3)
    assert (refused.stdout, json.loads(refused.stderr)["code"]) == ("", "membership_not_found")


def test_the_tail(run: Run, ann: Room) -> None:
    # Between the messages are so many other events that one look is not enough.
    ann.post("m0")
    for _ in range(15):
        ann.react(3, "like")
        ann.unreact(3, "like")
    ann.post_many([{"kind": "decision", "body": f"m{n}"} for n in range(1, 4)])
    lines = run("tail", ann.ref, "-n", "4", "--json", *acting_as(ann)).stdout.splitlines()
    assert [json.loads(line)["body"] for line in lines] == ["m0", "m1", "m2", "m3"]
    shown = run("tail", ann.ref, "-n", "2", *acting_as(ann)).stdout
    assert [line.split()[-1] for line in shown.splitlines()] == ["m2", "m3"]
    assert run("tail", ann.ref, "-n", "0", *acting_as(ann)).stdout == ""
    events = run("tail", ann.ref, "--events", "-n", "99", "--json", *acting_as(ann)).stdout
    assert [json.loads(line)["seq"] for line in events.splitlines()] == list(range(1, 37))


def test_a_body_cannot_draw_on_the_terminal(run: Run, ann: Room) -> None:
    ann.post("\x1b]0;owned\x07\x1b[31mred \u202eevil")
    shown = run("tail", ann.ref, *acting_as(ann)).stdout
    assert r"\x1b]0;owned\x07\x1b[31mred \u202eevil" in shown


def test_a_reader_that_has_seen_enough(environment: dict[str, str], ann: Room) -> None:
    ann.post_many([{"kind": "decision", "body": "x" * 60_000}] * 10)
    process = subprocess.Popen(
        [*COMMAND, "tail", ann.ref, *acting_as(ann)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(GIVE_UP_AFTER_S) == 128 + signal.SIGPIPE


def test_following(environment: dict[str, str], ann: Room, bob: Room) -> None:
    bob.post("before")
    process = subprocess.Popen(
        [*COMMAND, "tail", ann.ref, "-n", "1", "--follow", "--json", *acting_as(ann)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["body"] == "before"
    bob.react(3, "like")
    bob.post("by another")
    assert json.loads(process.stdout.readline())["body"] == "by another"
    ann.post("one's own")
    assert json.loads(process.stdout.readline())["body"] == "one's own"
    process.send_signal(signal.SIGINT)
    rest, complaint = process.communicate(timeout=GIVE_UP_AFTER_S)
    assert (rest, complaint, process.returncode) == ("", "", 0)


def test_following_through_a_restart(
    own_daemon: Daemon, environment: dict[str, str], unique: Unique
) -> None:
    with Client(unique("ann"), url=own_daemon.url) as client:
        room = client.create_room(unique("room"))
        process = subprocess.Popen(
            [*COMMAND, "tail", room.ref, "--follow", "--json", *acting_as(room)],
            env=environment | {"COORDROOMS_URL": own_daemon.url},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        try:
            for end in (own_daemon.stop, own_daemon.kill):
                room.post("before")
                assert json.loads(process.stdout.readline())["body"] == "before"
                end()
                own_daemon.start()
                room.post("after")
                assert json.loads(process.stdout.readline())["body"] == "after"
        finally:
            process.kill()
            process.communicate()


# --- waiting -------------------------------------------------------------------------------


def until_waiting(room: Room) -> None:
    """Return when somebody is parked in the room."""
    block_until(lambda: any(member.waiting for member in room.members()))


def test_waiting(run: Run, environment: dict[str, str], ann: Room, bob: Room) -> None:
    bob.post("already here")
    woken = json.loads(run("wait", ann.ref, "--after", "2", "--json", *acting_as(ann)).stdout)
    assert (woken["reason"], woken["woken_by"]) == ("event", [3])
    process = subprocess.Popen(
        [*COMMAND, "wait", ann.ref, "--after", "3", "--wake-on", "member,claim", *acting_as(ann)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until_waiting(bob)
    bob.post("wakes nobody")
    bob.leave()
    shown, aside = process.communicate(timeout=GIVE_UP_AFTER_S)
    assert [line.split()[0] for line in shown.splitlines()] == ["4", "5"]
    assert (aside, process.returncode) == ("Go on with --after 5.\n", 0)
    quiet = run("wait", ann.ref, "--after", "5", "--timeout", "0.2", *acting_as(ann))
    assert quiet.stdout == ""
    assert quiet.stderr == ("Nothing to wake on came within 0.2 s.\nGo on with --after 5.\n")


def test_waiting_through_a_restart(
    own_daemon: Daemon, environment: dict[str, str], unique: Unique
) -> None:
    with (
        Client(unique("ann"), url=own_daemon.url) as client,
        Client(unique("bob"), url=own_daemon.url) as other,
    ):
        ann = client.create_room(unique("room"))
        bob = other.join(ann.ref)
        process = subprocess.Popen(
            [*COMMAND, "wait", ann.ref, "--json", "--timeout", "900", *acting_as(ann)],
            env=environment | {"COORDROOMS_URL": own_daemon.url},
            stdout=subprocess.PIPE,
            text=True,
        )
        for end in (own_daemon.stop, own_daemon.kill):
            until_waiting(bob)
            end()
            own_daemon.start()
        until_waiting(bob)
        bob.post("news")
        shown, _ = process.communicate(timeout=GIVE_UP_AFTER_S)
    assert json.loads(shown)["woken_by"] == [3]


# --- statuses, reactions, claims -----------------------------------------------------------


def test_statuses(run: Run, ann: Room) -> None:
    caller = acting_as(ann)
    shown = run("status", ann.ref, "reading the diff", "--for", "60", *caller).stdout
    assert re.fullmatch(r"'reading the diff' until \d\d:\d\d:\d\d\.\n", shown)
    document = json.loads(run("status", ann.ref, "reading the diff", "--json", *caller).stdout)
    assert document["changed"] is False
    assert run("status", ann.ref, "--clear", *caller).stdout == "No status is set.\n"


def test_reactions(run: Run, ann: Room, bob: Room) -> None:
    bob.post("Agreed?")
    arguments = ("react", ann.ref, "3", "agree", *acting_as(ann))
    assert run(*arguments).stdout == "Message 3: agree 1.\n"
    assert run(*arguments).stdout == "Message 3: agree 1 (no change).\n"
    document = json.loads(run(*arguments, "--remove", "--json").stdout)
    assert (document["changed"], document["counts"]) == (True, {})
    assert run(*arguments, "--remove").stdout == "Message 3: no reactions (no change).\n"


def test_claims(run: Run, ann: Room, bob: Room) -> None:
    shown = run("claim", ann.ref, "the-draft", "--lease", "60", *acting_as(ann)).stdout
    assert re.fullmatch(r"'the-draft' is yours until \d\d:\d\d:\d\d \(fence 3\)\.\n", shown)
    _, row = run("claims", ann.ref, *acting_as(bob)).stdout.splitlines()
    assert row.split()[:2] == ["the-draft", acting_as(ann)[1]]
    assert "claim_conflict" in run("claim", ann.ref, "the-draft", *acting_as(bob), code=3).stderr
    assert run("release", ann.ref, "the-draft", *acting_as(ann)).stdout == "'the-draft' is free.\n"
    assert json.loads(run("claims", ann.ref, "--json", *acting_as(bob)).stdout) == {"claims": []}
    nothing = run("claims", ann.ref, *acting_as(bob))
    assert (nothing.stdout, nothing.stderr) == ("", "Nothing is claimed.\n")


# --- on a terminal -------------------------------------------------------------------------


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, environment: dict[str, str], *arguments: str) -> None:
        self._main, side = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            env=environment | {"COLUMNS": "100", "LINES": "30"},
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
        )
        os.close(side)
        self._screen = ""

    def until(self, text: str) -> str:
        """What came up to the moment when `text` was there; it is looked for in what comes now."""
        while text not in self._screen:
            self._read()
        seen, _, self._screen = self._screen.partition(text)
        return seen

    def interrupt(self) -> tuple[str, int]:
        """Press Ctrl-C; the rest of what is shown, and the exit code."""
        self.process.send_signal(signal.SIGINT)
        while self._read():
            pass
        return self._screen, self.process.wait(GIVE_UP_AFTER_S)

    def press(self, keys: str) -> None:
        os.write(self._main, keys.encode())

    def settings(self) -> list[object]:
        """Of the terminal: what it echoes, and whether it waits for Enter."""
        return termios.tcgetattr(self._main)[:4]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._main)

    def _read(self) -> bool:
        try:
            data = os.read(self._main, 65_536)
        except OSError:
            return False
        self._screen += data.decode()
        return bool(data)


@pytest.fixture
def terminal(environment: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    """Starts commands, each on a terminal; none is left running."""
    started: list[Terminal] = []

    def start(*arguments: str, **more: str) -> Terminal:
        started.append(Terminal(environment | more, *arguments))
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()


def test_members_are_a_live_table_on_a_terminal(
    terminal: Callable[..., Terminal], ann: Room, bob: Room
) -> None:
    shown = terminal("members", ann.ref, *acting_as(ann))
    shown.until("\x1b[?1049h")
    shown.until(acting_as(bob)[1])
    bob.set_status("reading the diff")
    shown.until("reading the diff")
    bob.take("the-draft")
    shown.until(f"the-draft is claimed by {acting_as(bob)[1]}")
    rest, code = shown.interrupt()
    assert code == 0
    page, _, left_behind = rest.partition("\x1b[?25h\x1b[?1049l")
    assert "Traceback" not in page + left_behind
    assert "reading the diff" in left_behind, "the last table stays"


def test_leaving_ends_the_live_table(terminal: Callable[..., Terminal], ann: Room) -> None:
    shown = terminal("members", ann.ref, *acting_as(ann))
    shown.until(acting_as(ann)[1])
    ann.leave()
    shown.until("\x1b[?1049l")
    assert "Traceback" not in shown.until("active_membership_not_found")
    assert shown.process.wait(GIVE_UP_AFTER_S) == 3


def test_a_live_table_of_no_room(terminal: Callable[..., Terminal], ann: Room) -> None:
    shown = terminal("members", "no-such-room", *acting_as(ann))
    assert "\x1b" not in shown.until("room_not_found")
    assert shown.process.wait(GIVE_UP_AFTER_S) == 3


def test_colours_on_a_terminal(terminal: Callable[..., Terminal], ann: Room) -> None:
    ann.post("hello")
    coloured = terminal("tail", ann.ref, *acting_as(ann)).until("hello")
    assert "\x1b[1m\x1b[32mdecision" in coloured
    plain = terminal("tail", ann.ref, *acting_as(ann), NO_COLOR="1").until("hello")
    assert "\x1b" not in plain


def test_top_is_live_through_a_restart(
    terminal: Callable[..., Terminal], own_daemon: Daemon, unique: Unique
) -> None:
    shown = terminal("top", "--interval", "0.1", COORDROOMS_URL=own_daemon.url)
    settings = shown.settings()
    with Client("ann", url=own_daemon.url) as client:
        room = client.create_room("kitchen")
        shown.until("\x1b[?1049h")
        shown.until("takes writes")
        room.post("hello")
        shown.until("kitchen")
    own_daemon.kill()
    shown.until("cannot be reached")
    own_daemon.start()
    # Without the sentence that it is away above it.
    shown.until("\x1b[H\x1b[J\x1b[1mcoordroomsd")
    shown.press("q")
    rest = shown.until("\x1b[?1049l")
    assert "Traceback" not in rest
    assert shown.process.wait(GIVE_UP_AFTER_S) == 0
    assert shown.settings() == settings


def test_ctrl_c_leaves_top(terminal: Callable[..., Terminal]) -> None:
    shown = terminal("top")
    shown.until("q leaves")
    rest, code = shown.interrupt()
    assert code == 0
    assert "\x1b[?25h\x1b[?1049l" in rest
    assert "Traceback" not in rest


def test_top_is_told_once_where_there_is_no_terminal(run: Run, ann: Room) -> None:
    text = run("top", "--interval", "0.1").stdout
    assert "\x1b" not in text
    assert "takes writes" in text
    document = json.loads(run("top", "--interval", "0.1", "--json").stdout)
    assert document["store"]["up"] is True
    assert document["waits"]["limit"] > 0
    assert ann.ref in [room["room"] for room in document["rooms"]] or len(document["rooms"]) == 10
    assert run("top", COORDROOMS_URL="unix:/nowhere", code=4).stdout == ""
