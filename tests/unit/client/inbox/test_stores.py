"""The file of an inbox: private, whole, and refused when it is not to be trusted."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from coordrooms.addresses import UnixAddress
from coordrooms.errors import ConfigurationError
from coordrooms.inbox.stores import Inbox, InboxError, Original, inbox_path
from tests.unit.client.inbox.conftest import OpenInbox
from tests.unit.client.inbox.conversation_daemons import ConversationDaemon
from tests.unit.client.inbox.test_listeners import drain, stored


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_its_owner_may_use_it(open_inbox: OpenInbox, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = Path(open_inbox().path)
    finally:
        os.umask(before)
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)


@pytest.mark.parametrize(("name", "loose"), [("bob.sqlite3", 0o640), (".", 0o711)])
def test_open_to_others_it_is_refused_with_the_remedy(
    name: str, loose: int, open_inbox: OpenInbox
) -> None:
    path = Path(open_inbox().path)
    wrong = path.parent / name
    wrong.chmod(loose)
    with pytest.raises(ConfigurationError, match=rf"mode {loose:04o}.*chmod [67]00 {wrong}"):
        open_inbox()


def test_a_link_is_not_followed(open_inbox: OpenInbox, tmp_path: Path) -> None:
    path = Path(open_inbox().path)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InboxError, match=r"bob\.sqlite3 cannot be used"):
        open_inbox()
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_that_is_none_is_left_alone(open_inbox: OpenInbox) -> None:
    path = Path(open_inbox().path)
    path.write_bytes(b"something else" * 100)
    with pytest.raises(InboxError, match="cannot be used: file is not a database"):
        open_inbox()
    assert path.read_bytes() == b"something else" * 100


def test_a_newer_file_is_left_alone(open_inbox: OpenInbox) -> None:
    with sqlite3.connect(open_inbox().path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(InboxError, match="a newer coordrooms made it"):
        open_inbox()


def test_what_cannot_be_stored_is_not_confirmed(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    daemon.say("a", "x" * 50_000)
    # A disk that is full, as SQLite tells of it.
    inbox._db.execute("PRAGMA max_page_count = 10")
    with pytest.raises(InboxError, match="full"):
        drain(daemon, inbox)
    assert (daemon.rooms["a"].cursor, daemon.rooms["a"].last_seen) == (0, 0)
    inbox = open_inbox()
    assert stored(inbox) == []
    drain(daemon, inbox)
    assert len(stored(inbox)) == 1


def test_only_what_is_open(open_inbox: OpenInbox) -> None:
    daemon, inbox = ConversationDaemon(), open_inbox()
    assert inbox.contents().is_empty
    daemon.say("a", "a1")
    daemon.say("a", "a2")
    drain(daemon, inbox)
    inbox.mark_acknowledged([Original.of("a", daemon.rooms["a"].log[0])])
    for open_only, numbers in ((True, [2]), (False, [1, 2])):
        contents = inbox.contents(open_only=open_only)
        assert [entry.message.seq for entry in contents.entries] == numbers
        assert not contents.is_empty


def test_two_listeners_share_it(open_inbox: OpenInbox) -> None:
    daemon, first = ConversationDaemon(), open_inbox()
    second = Inbox(first.path)
    daemon.say("a", "a1")
    assert [*drain(daemon, first), *drain(daemon, second)] == ["a/1 a1"]
    daemon.say("a", "a2")
    assert [*drain(daemon, second), *drain(daemon, first)] == ["a/2 a2"]
    second.close()


def test_each_participant_of_each_daemon_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    names = ["ann", "Ann", "ann/1", "ann-1", "änn", "a" * 200, "a" * 201]
    paths = [
        inbox_path(UnixAddress(socket), name) for socket in ("/a.sock", "/b.sock") for name in names
    ]
    assert len({path.lower() for path in paths}) == len(paths)
    assert all(path.startswith("/state/coordrooms/inbox/unix-") for path in paths)
    assert all(len(part) <= 255 for path in paths for part in path.split("/"))
