"""Filling an inbox: everything once, in order, and not a moment counted as retrieved too early."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordrooms.calls import Call
from coordrooms.inbox.entries import Entry, Gap
from coordrooms.inbox.listeners import Listener
from coordrooms.inbox.stores import Inbox
from tests.unit.client.inbox.conftest import OpenInbox
from tests.unit.client.inbox.conversation_daemons import (
    Conversation,
    ConversationDaemon,
    Kill,
    KilledError,
    run,
)

# The calls of one look that stores something.
KILLS = [Kill(call, when) for call in (1, 2, 3) for when in ("before", "after")]


def drain(daemon: ConversationDaemon, inbox: Inbox, listener: Listener | None = None) -> list[str]:
    """Look until there is nothing more; what was stored, as text."""
    listener = listener or Listener(inbox, "bob-1")
    stored: list[str] = []
    while True:
        looked = run(daemon, listener.look())
        stored += map(text, looked.stored)
        if not looked.has_more:
            return stored


def text(item: Entry | Gap) -> str:
    if isinstance(item, Gap):
        return f"{item.conversation} {item.from_seq}-{item.to_seq}"
    return f"{item.conversation}/{item.message.seq} {item.message.body}"


def stored(inbox: Inbox) -> list[str]:
    return list(map(text, inbox.contents().entries))


def test_everything_is_stored_and_then_confirmed(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    for n in range(1, 6):
        daemon.say("a", f"a{n}")
    daemon.say("b", "b1", "question")
    assert drain(daemon, inbox) == ["a/1 a1", "a/2 a2", "b/1 b1", "a/3 a3", "a/4 a4", "a/5 a5"]
    assert stored(inbox) == ["a/1 a1", "a/2 a2", "b/1 b1", "a/3 a3", "a/4 a4", "a/5 a5"]
    assert [(room.cursor, room.last_seen) for room in daemon.rooms.values()] == [(5, 5), (1, 1)]


def test_a_message_is_kept_as_it_came(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    said = daemon.say("a", "\x1b[2J “naïve” \u202e", "question")
    drain(daemon, inbox)
    [entry] = open_inbox().contents().entries
    assert entry.document["body"] == said["body"]
    assert (entry.message.at.isoformat(), entry.generation) == (
        "2026-01-01T00:00:00.001000+00:00",
        "g1",
    )
    assert (entry.acknowledged, entry.replaced, entry.reply, entry.is_open) == (
        False,
        False,
        None,
        True,
    )


def test_a_look_that_finds_nothing_new_asks_once(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    daemon.say("a", "a1")
    listener = Listener(inbox, "bob-1")
    drain(daemon, inbox, listener)
    daemon.requests.clear()
    assert run(daemon, listener.look()) == ([], False)
    assert daemon.requests == ["GET /conversations"]


def test_conversations_that_are_opened_meanwhile(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    listener = Listener(inbox, "bob-1")
    assert drain(daemon, inbox, listener) == []
    daemon.rooms["empty"] = Conversation()
    assert drain(daemon, inbox, listener) == []
    daemon.say("new", "hello")
    assert drain(daemon, inbox, listener) == ["new/1 hello"]


def test_what_nobody_said_is_passed_over(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    daemon.say("a", "a1")
    run(daemon, _acknowledging("a", 1))
    assert drain(daemon, inbox) == ["a/1 a1"]
    assert daemon.rooms["a"].cursor == 2


def _acknowledging(room: str, seq: int) -> Any:
    yield Call("POST", f"/conversations/{room}/messages/{seq}/ack", parse=lambda data: None)


def test_a_gap_is_recorded(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    for n in range(1, 6):
        daemon.say("a", f"a{n}")
    daemon.remove_before("a", 3)
    assert drain(daemon, inbox) == ["a 1-2", "a/3 a3", "a/4 a4", "a/5 a5"]
    assert list(map(text, inbox.contents().gaps)) == ["a 1-2"]


def test_a_gap_that_grew_before_it_was_confirmed(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    for n in range(1, 6):
        daemon.say("a", f"a{n}")
    daemon.remove_before("a", 3)
    with pytest.raises(KilledError):
        run(daemon, Listener(inbox, "bob-1").look(), Kill(3, "before"))
    daemon.remove_before("a", 5)
    inbox = open_inbox()
    assert drain(daemon, inbox) == ["a 1-4", "a/5 a5"]
    assert list(map(text, inbox.contents().gaps)) == ["a 1-4"]
    assert stored(inbox) == ["a/3 a3", "a/4 a4", "a/5 a5"]


@pytest.mark.parametrize("kill", KILLS, ids=str)
def test_killed_and_run_again(kill: Kill, open_inbox: OpenInbox) -> None:
    """At each step: nothing lost, nothing twice, and nothing counted that is not stored."""
    daemon = ConversationDaemon()
    for n in range(1, 4):
        daemon.say("a", f"a{n}")
    with pytest.raises(KilledError):
        run(daemon, Listener(open_inbox(), "bob-1").look(), kill)
    inbox = open_inbox()
    assert daemon.rooms["a"].last_seen <= len(stored(inbox))
    drain(daemon, inbox)
    assert stored(inbox) == ["a/1 a1", "a/2 a2", "a/3 a3"]
    assert daemon.rooms["a"].last_seen == 3


def test_a_restored_database_gives_its_numbers_again(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    listener = Listener(inbox, "bob-1")
    daemon.say("a", "kept")
    older = daemon.snapshot()
    daemon.say("a", "lost")
    drain(daemon, inbox, listener)
    daemon.restore(older)
    daemon.say("a", "said anew")
    assert drain(daemon, inbox, listener) == ["a/2 said anew"]
    entries = inbox.contents().entries
    assert [(text(entry), entry.replaced, entry.is_open) for entry in entries] == [
        ("a/1 kept", False, True),
        ("a/2 lost", True, False),
        ("a/2 said anew", False, True),
    ]


def test_a_database_that_is_restored_in_the_middle_of_a_look(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    older = daemon.snapshot()
    daemon.say("a", "lost")
    program = Listener(inbox, "bob-1").look()
    answer: Any = daemon.answer(next(program))
    answer = daemon.answer(program.send(answer))
    confirming = program.send(answer)
    daemon.restore(older)
    daemon.say("a", "said anew")
    with pytest.raises(Exception, match="generation_changed") as refused:
        daemon.answer(confirming)
    with pytest.raises(StopIteration) as stopped:
        program.throw(refused.value)
    assert stopped.value.value.has_more
    assert drain(daemon, inbox) == ["a/1 said anew"]
    assert daemon.rooms["a"].last_seen == 1


# --- any order of things -------------------------------------------------------------------

Action = Callable[["World"], None]


class World:
    """A daemon, a listener, and what must hold after each of their steps."""

    def __init__(self, path: Path) -> None:
        self.daemon = ConversationDaemon()
        self.older = self.daemon.snapshot()
        self.ever: list[str] = []
        self._path = path
        self._inbox = Inbox(str(path))
        self._listener = Listener(self._inbox, "bob-1")

    def close(self) -> None:
        self._inbox.close()

    def look(self, kill: Kill | None) -> bool:
        """Whether there is more; a process that was killed is started again."""
        try:
            return run(self.daemon, self._listener.look(), kill).has_more
        except KilledError:
            self._inbox.close()
            self._inbox = Inbox(str(self._path))
            self._listener = Listener(self._inbox, "bob-1")
            return True

    def check(self) -> None:
        entries = self._inbox.contents().entries
        known = [(entry.conversation, entry.document["at"]) for entry in entries]
        assert len(set(known)) == len(known), "stored twice"
        assert list(map(text, entries))[: len(self.ever)] == self.ever, "lost or moved"
        self.ever = list(map(text, entries))
        for name, room in self.daemon.rooms.items():
            for message in room.messages():
                if message["author"]["conversation_id"] == "ann-1":
                    is_stored = (name, message["at"]) in known
                    assert is_stored or message["seq"] > room.last_seen, "retrieved too early"

    def check_complete(self) -> None:
        known = {(e.conversation, e.document["at"]) for e in self._inbox.contents().entries}
        for name, room in self.daemon.rooms.items():
            missing = [m for m in room.messages() if (name, m["at"]) not in known]
            assert missing == []
            assert room.last_seen == room.head


kills = st.none() | st.builds(Kill, st.integers(1, 3), st.sampled_from(["before", "after"]))
rooms = st.sampled_from(["a", "b"])
actions = st.one_of(
    st.tuples(st.just("say"), rooms),
    st.tuples(st.just("look"), kills),
    st.tuples(st.just("remove"), rooms, st.integers(2, 8)),
    st.tuples(st.just("snapshot")),
    st.tuples(st.just("restore")),
)


@given(st.lists(actions, max_size=25))
@settings(max_examples=60, deadline=None)
def test_any_order_of_things(script: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory, "private", "bob.sqlite3"))
        daemon = world.daemon
        try:
            for number, action in enumerate(script):
                match action:
                    case ("say", room):
                        daemon.say(room, f"m{number}")
                    case ("look", kill):
                        world.look(kill)
                    case ("remove", room, first_seq) if room in daemon.rooms:
                        daemon.remove_before(room, first_seq)
                    case ("snapshot",):
                        world.older = daemon.snapshot()
                    case ("restore",):
                        daemon.restore(world.older)
                world.check()
            while world.look(None):
                world.check()
            world.check_complete()
        finally:
            world.close()
