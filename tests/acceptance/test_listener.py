"""`coordrooms listen`, `inbox` and `reply` with a daemon that stops, dies and comes back."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coordrooms import Client, Room
from coordrooms.calls import Call
from tests.acceptance.daemons import Daemon
from tests.acceptance.inbox_commands import Commands
from tests.polling import GIVE_UP_AFTER_S, until

Unique = Callable[[str], str]


def introduced(client: Client, lobby: str) -> Client:
    """Let a participant be known to the daemon."""
    client.create_room(lobby).leave()
    return client


@pytest.fixture
def bob(daemon: Daemon, unique: Unique, tmp_path: Path) -> Commands:
    name = unique("bob")
    with Client(name, url=daemon.url) as client:
        introduced(client, unique("lobby"))
    return Commands(tmp_path, daemon.url, name)


@pytest.fixture
def thread(daemon: Daemon, bob: Commands, unique: Unique) -> Iterator[Room]:
    """Ann's handle on her conversation with Bob."""
    with Client(unique("ann"), url=daemon.url) as client:
        yield client.open_conversation(bob.conversation)


@contextlib.contextmanager
def listening(bob: Commands) -> Iterator[subprocess.Popen[str]]:
    process = bob.start("listen", "--json")
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=GIVE_UP_AFTER_S)


def heard(process: subprocess.Popen[str], count: int) -> list[str]:
    """The texts of the next messages that a listener reports."""
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(count)]
    return [json.loads(line)["message"]["body"] for line in lines]


def stage(room: Room, seq: int) -> str:
    [receipt] = room.receipts(seq)
    return receipt.stage


def files(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file()]


async def test_what_comes_is_stored_and_then_retrieved(thread: Room, bob: Commands) -> None:
    thread.send("before")
    assert stage(thread, 1) == "stored"
    with listening(bob) as listener:
        assert heard(listener, 1) == ["before"]
        thread.send("Done?\x1b[2J\u202e", "question")
        assert heard(listener, 1) == ["Done?\x1b[2J\u202e"]
        await until(lambda: stage(thread, 2) == "retrieved")
        listener.send_signal(signal.SIGINT)
        assert listener.wait(GIVE_UP_AFTER_S) == 0
    assert bob.stored() == [(thread.ref, 1, "before"), (thread.ref, 2, "Done?\x1b[2J\u202e")]
    shown = bob.run("inbox")
    assert f"{thread.ref}/2" in shown
    assert r"Done?\x1b[2J\u202e" in shown
    assert not {"\x1b", "\u202e"} & set(shown)


async def test_it_goes_on_when_the_daemon_comes_back(
    own_daemon: Daemon, unique: Unique, tmp_path: Path
) -> None:
    """Stopped and killed, with conversations that are opened before and after."""
    bob = Commands(tmp_path, own_daemon.url, "bob")
    with (
        Client("bob", url=own_daemon.url) as known,
        Client("ann", url=own_daemon.url) as ann,
        Client("cat", url=own_daemon.url) as cat,
    ):
        introduced(known, "lobby")
        with listening(bob) as listener:
            thread = ann.open_conversation("bob")
            thread.send("first")
            assert heard(listener, 1) == ["first"]
            own_daemon.kill()
            own_daemon.start()
            thread.send("second")
            assert heard(listener, 1) == ["second"]
            own_daemon.stop()
            own_daemon.start()
            cat.open_conversation("bob").send("third")
            assert heard(listener, 1) == ["third"]
            await until(lambda: stage(thread, 2) == "retrieved")
    assert [body for _, _, body in bob.stored()] == ["first", "second", "third"]


def test_without_a_daemon_it_says_so_at_once(tmp_path: Path) -> None:
    bob = Commands(tmp_path, "unix:/nonexistent/s.sock", "bob")
    assert "/nonexistent/s.sock cannot be reached" in bob.run("listen", code=4)
    assert "/nonexistent/s.sock cannot be reached" in bob.run("reply", "room_1/1", "x", code=4)
    # What is stored can be looked at all the same.
    assert bob.inbox() == []


def test_the_active_room_is_left_to_the_agent(
    daemon: Daemon, thread: Room, bob: Commands, unique: Unique
) -> None:
    with Client(bob.conversation, url=daemon.url) as client:
        room = thread.client.create_room(unique("room"))
        client.join(room.ref)
        room.post("in the room")
        thread.send("in the thread")
        with listening(bob) as listener:
            assert heard(listener, 1) == ["in the thread"]
        [unread] = [row for row in client.unread() if row.kind == "room"]
        assert [message.body for message in unread.messages] == ["in the room"]
        [member] = [m for m in room.members() if m.conversation_id == bob.conversation]
        assert (member.cursor, member.last_seen_seq) == (2, 2)


def test_an_inbox_that_others_could_read_is_refused(thread: Room, bob: Commands) -> None:
    thread.send("private")
    with listening(bob) as listener:
        heard(listener, 1)
    [path] = files(Path(bob.home, "state"))
    path.chmod(0o644)
    for arguments in (["listen"], ["inbox"], ["reply", f"{thread.ref}/1", "x"]):
        assert f"chmod 600 {path}" in bob.run(*arguments, code=2)
    assert stage(thread, 1) == "retrieved"


async def test_what_was_removed_before_it_was_read_is_a_gap(
    daemon: Daemon, thread: Room, bob: Commands
) -> None:
    """Kept in the inbox, so that whoever looks later knows that something is missing."""
    for n in range(1, 9):
        thread.send(f"m{n}")
    with Client(url=daemon.url) as operator:
        operator.run(keep_events(thread.ref, 3))
    await until(lambda: thread.thread().retention_gap is not None)
    with listening(bob) as listener:
        assert listener.stdout is not None
        assert json.loads(listener.stdout.readline()) == {
            "conversation": thread.ref,
            "retention_gap": {"from_seq": 1, "to_seq": 5},
        }
        assert heard(listener, 3) == ["m6", "m7", "m8"]
    document = json.loads(bob.run("inbox", "--json"))
    assert [row["retention_gap"]["to_seq"] for row in document["retention_gaps"]] == [5]
    assert "events 1 to 5 were removed" in bob.run("inbox")


def keep_events(room: str, number: int) -> Call[None]:
    return Call(
        "PUT", f"/rooms/{room}/retention", parse=lambda data: None, body={"max_events": number}
    )


# --- answering -------------------------------------------------------------------------------


def test_an_answer(thread: Room, bob: Commands) -> None:
    thread.send("Done?", "question")
    target = f"{thread.ref}/1"
    assert bob.run("reply", target, "Done.") == "Answered, with 2; acknowledged.\n"
    assert bob.run("reply", target, "Done.") == "Answered before, with 2; acknowledged.\n"
    assert "idempotency_key_reused" in bob.run("reply", target, "Changed.", code=3)
    assert "own_message" in bob.run("reply", f"{thread.ref}/2", "To myself.", code=3)
    question, answer = thread.thread().messages
    assert (answer.kind, answer.body, answer.reply_to) == ("result", "Done.", 1)
    assert question.reactions["ack"].total == 1
    assert stage(thread, 1) == "replied"
    assert bob.inbox() == []
    [row] = bob.inbox("--all")
    assert (row["message"]["body"], row["reply"]["body"]) == ("Done?", "Done.")


def test_a_long_answer_from_standard_input(thread: Room, bob: Commands) -> None:
    thread.send("All of it?", "question")
    body = "line\n" * 5000
    document = json.loads(
        bob.run("reply", f"{thread.ref}/1", "-", "--kind", "progress", "--json", stdin=body)
    )
    assert document == {
        "conversation": thread.ref,
        "reply_to": 1,
        "seq": 2,
        "was_there": False,
    }
    _, answer = thread.thread().messages
    assert (answer.kind, answer.body) == ("progress", body)


@pytest.mark.parametrize(
    "arguments",
    [["reply"], ["reply", "room_1/1"], ["reply", "1", "x"], ["reply", "room_1/", "x"], ["me"]],
)
def test_wrong_usage(arguments: list[str], bob: Commands) -> None:
    assert "usage:" in bob.run(*arguments, code=2)


def test_only_ones_own_conversations_can_be_answered(
    daemon: Daemon, thread: Room, bob: Commands, unique: Unique, tmp_path: Path
) -> None:
    thread.send("between us")
    cat = Commands(tmp_path / "cat", daemon.url, unique("cat"))
    assert "room_not_found" in cat.run("reply", f"{thread.ref}/1", "x", code=3)
    room = thread.client.create_room(unique("room"))
    room.post("in a room")
    assert "room_not_found" in bob.run("reply", f"{room.ref}/2", "x", code=3)
    assert len(thread.thread().messages) == 1


def test_what_was_acknowledged_by_other_means_is_dealt_with(
    daemon: Daemon, thread: Room, bob: Commands
) -> None:
    for n in (1, 2):
        thread.send(f"m{n}")
    with listening(bob) as listener:
        heard(listener, 2)
    with Client(bob.conversation, url=daemon.url) as client:
        client.room(thread.ref).acknowledge(1)
    assert [row["message"]["seq"] for row in bob.inbox()] == [2]
    bob.run("react", thread.ref, "2", "ack")
    assert bob.inbox() == []
