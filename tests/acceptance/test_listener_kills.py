"""`coordrooms listen` and `reply` killed at each step: nothing lost, nothing done twice."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coordrooms import Client, Room
from tests.acceptance.daemons import Daemon
from tests.acceptance.held_calls import HeldCalls, Hold
from tests.acceptance.inbox_commands import Commands
from tests.polling import GIVE_UP_AFTER_S, until

Unique = Callable[[str], str]

LISTENING = ["GET /api/v1/conversations", "GET /api/v1/unread", "POST /api/v1/cursor"]
REPLYING = ["me", "the message", "its receipts", "the reply", "the acknowledgement"]


def holds(calls: list[str]) -> list[pytest.param]:  # type: ignore[valid-type]
    return [
        pytest.param(Hold(number, when), id=f"{when} {call}")
        for number, call in enumerate(calls, 1)
        for when in ("before", "after")
    ]


@pytest.fixture
def way(daemon: Daemon) -> Iterator[HeldCalls]:
    with tempfile.TemporaryDirectory(prefix="coordrooms-") as directory:
        way = HeldCalls(Path(directory, "w.sock"), daemon.socket)
        yield way
        way.close()


@pytest.fixture
def bob(daemon: Daemon, way: HeldCalls, unique: Unique, tmp_path: Path) -> Commands:
    name = unique("bob")
    with Client(name, url=daemon.url) as client:
        client.create_room(unique("lobby")).leave()
    return Commands(tmp_path, way.url, name)


@pytest.fixture
def thread(daemon: Daemon, bob: Commands, unique: Unique) -> Iterator[Room]:
    """Ann's handle on her conversation with Bob."""
    with Client(unique("ann"), url=daemon.url) as client:
        yield client.open_conversation(bob.conversation)


def kill_where_it_hangs(way: HeldCalls, hold: Hold, process: subprocess.Popen[str]) -> None:
    try:
        way.wait_until_held()
    finally:
        kill(process)
    assert len(way.calls) == hold.call
    way.hold = None


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate(timeout=GIVE_UP_AFTER_S)


def stages(thread: Room) -> list[str]:
    return [thread.receipts(message.id)[0].stage for message in thread.thread().messages]


@pytest.mark.parametrize("hold", holds(LISTENING))
async def test_listening(hold: Hold, way: HeldCalls, bob: Commands, thread: Room) -> None:
    said = [(thread.ref, n, f"m{n}") for n in range(1, 4)]
    for _, _, body in said:
        thread.send(body)
    way.hold = hold
    kill_where_it_hangs(way, hold, bob.start("listen"))
    assert way.calls == [call for call in LISTENING if call in way.calls]
    stored = bob.stored()
    # What counts as retrieved is what is stored, and nothing else.
    assert stored == (said if LISTENING[2] in way.calls else [])
    assert stages(thread) == ["retrieved" if hold == (3, "after") else "stored"] * 3

    again = bob.start("listen")
    try:
        await until(lambda: stages(thread) == ["retrieved"] * 3)
    finally:
        kill(again)
    assert bob.stored() == said


@pytest.mark.parametrize("hold", holds(REPLYING))
def test_replying(hold: Hold, way: HeldCalls, bob: Commands, thread: Room) -> None:
    thread.send("Done?", "question")
    arguments = ("reply", f"{thread.ref}/1", "Done.")
    way.hold = hold
    kill_where_it_hangs(way, hold, bob.start(*arguments))

    bob.run(*arguments)
    question, answer = thread.thread().messages
    assert (answer.body, answer.reply_to) == ("Done.", 1)
    assert question.reactions["ack"].total == 1
    [row] = bob.inbox("--all")
    assert (row["acknowledged"], row["reply"]["id"]) == (True, 2)
    assert bob.inbox() == []
    # From the moment when it was saved on, nothing else can be said.
    assert "idempotency_key_reused" in bob.run(*arguments[:2], "Changed.", code=3)


def test_listening_while_much_is_said(daemon: Daemon, bob: Commands, unique: Unique) -> None:
    """Killed again and again, in the middle of what there is."""
    said: set[tuple[str, int, str]] = set()
    for name in ("ann", "cat", "dan", "eve"):
        with Client(unique(name), url=daemon.url) as client:
            thread = client.open_conversation(bob.conversation)
            for n in range(1, 21):
                # Four of them are as much as the daemon gives at once.
                body = f"{name} {n} ".ljust(16_000, ".")
                thread.send(body)
                said.add((thread.ref, n, body))
    kills, stored = 0, bob.stored()
    while len(stored) < len(said):
        process = bob.start("listen", "--json")
        assert process.stdout is not None
        reported = json.loads(process.stdout.readline())
        kill(process)
        kills += 1
        known, stored = len(stored), bob.stored()
        # The first that is reported is the first that is new.
        assert reported["message"]["body"] == stored[known][2]
    assert kills > 2
    assert len(stored) == len(said)
    assert set(stored) == said
    for conversation in {conversation for conversation, _, _ in said}:
        numbers = [number for where, number, _ in stored if where == conversation]
        assert numbers == list(range(1, 21))
