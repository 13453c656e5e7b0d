"""Bringing an inbox up to date with what was acknowledged by other means."""

from __future__ import annotations

from coordrooms.inbox.acknowledgements import refresh
from coordrooms.inbox.stores import Inbox
from tests.unit.client.inbox.conftest import OpenInbox
from tests.unit.client.inbox.conversation_daemons import ConversationDaemon, run
from tests.unit.client.inbox.test_listeners import drain


def open_messages(inbox: Inbox) -> set[tuple[str, int]]:
    entries = inbox.contents().entries
    return {(entry.conversation, entry.message.seq) for entry in entries if entry.is_open}


def test_what_was_acknowledged_elsewhere(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    # More of a kind than a page has.
    for n in range(7):
        daemon.say("a", f"a{n}", "question" if n % 3 == 0 else "note")
    daemon.say("b", "b0")
    drain(daemon, inbox)
    daemon.rooms["a"].acknowledged |= {1, 2, 6, 7}
    run(daemon, refresh(inbox))
    assert open_messages(inbox) == {("a", 3), ("a", 4), ("a", 5), ("b", 1)}


def test_nothing_open_asks_nothing(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    daemon.say("a", "a1")
    drain(daemon, inbox)
    daemon.rooms["a"].acknowledged.add(1)
    run(daemon, refresh(inbox))
    daemon.requests.clear()
    run(daemon, refresh(inbox))
    assert daemon.requests == []
