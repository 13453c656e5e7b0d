"""Answering once: saved, sent under its own key, acknowledged; killed anywhere and run again."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordrooms.answers import Me
from coordrooms.inbox.entries import Entry
from coordrooms.inbox.replies import Answering, Replied
from coordrooms.inbox.stores import Inbox
from coordrooms.refusals import (
    GenerationChangedError,
    IdempotencyKeyReusedError,
    InvalidArgumentsError,
    MessageNotFoundError,
    OwnMessageError,
    RateLimitedError,
    RoomNotFoundError,
)
from tests.unit.client.inbox.conftest import OpenInbox
from tests.unit.client.inbox.conversation_daemons import ConversationDaemon, Kill, KilledError, run
from tests.unit.client.inbox.test_listeners import drain

# The calls of a reply that is sent for the first time.
MESSAGE, RECEIPTS, SEND, ACKNOWLEDGE = 1, 2, 3, 4
KILLS = [
    Kill(call, when)
    for call in (MESSAGE, RECEIPTS, SEND, ACKNOWLEDGE)
    for when in ("before", "after")
]


@pytest.fixture
def daemon() -> ConversationDaemon:
    """Ann has asked a question, which is message 1 of conversation `a`."""
    daemon = ConversationDaemon()
    daemon.say("a", "Done?", "question")
    return daemon


def reply(
    daemon: ConversationDaemon,
    inbox: Inbox,
    body: str = "Done.",
    *,
    seq: int = 1,
    kind: str | None = None,
    room: str = "a",
    kill: Kill | None = None,
) -> Replied:
    answering = Answering(inbox, Me.from_json(daemon.me()), room, seq, body, kind)
    return run(daemon, answering.run(), kill)


def replies(daemon: ConversationDaemon) -> list[tuple[str, str, int | None]]:
    """Kind, text and target of what Bob has said."""
    return [
        (message["kind"], message["body"], message["reply_to"])
        for message in daemon.rooms["a"].messages()
        if message["author"]["conversation_id"] == "bob-1"
    ]


def entry(inbox: Inbox, position: int = 0) -> Entry:
    return inbox.contents().entries[position]


def test_it_is_sent_and_the_message_acknowledged(
    daemon: ConversationDaemon, open_inbox: OpenInbox
) -> None:
    drain(daemon, open_inbox())
    assert reply(daemon, open_inbox()) == Replied(2, was_there=False)
    assert replies(daemon) == [("result", "Done.", 1)]
    assert daemon.rooms["a"].acknowledged == {1}
    handled = entry(open_inbox())
    assert (handled.acknowledged, handled.is_open) == (True, False)
    assert handled.reply is not None
    assert (handled.reply.body, handled.reply.sent_seq) == ("Done.", 2)


def test_no_listener_is_needed(daemon: ConversationDaemon, open_inbox: OpenInbox) -> None:
    reply(daemon, open_inbox())
    assert replies(daemon) == [("result", "Done.", 1)]
    # What it stored of the message is what a listener would have stored.
    assert drain(daemon, open_inbox()) == []
    assert len(open_inbox().contents().entries) == 1


def test_it_is_saved_before_it_is_sent(daemon: ConversationDaemon, open_inbox: OpenInbox) -> None:
    with pytest.raises(KilledError):
        reply(daemon, open_inbox(), kill=Kill(SEND, "before"))
    waiting = entry(open_inbox())
    assert waiting.is_open
    assert waiting.reply is not None
    assert (waiting.reply.body, waiting.reply.sent_seq) == ("Done.", None)
    assert replies(daemon) == []


def test_run_again_it_sends_nothing(daemon: ConversationDaemon, open_inbox: OpenInbox) -> None:
    reply(daemon, open_inbox())
    daemon.requests.clear()
    assert reply(daemon, open_inbox()) == Replied(2, was_there=True)
    assert daemon.requests == ["GET /rooms/a/messages/1"]


@pytest.mark.parametrize(
    ("asked", "kind", "sent"),
    [
        ("question", None, "result"),
        ("note", None, "note"),
        ("progress", None, "note"),
        ("question", "progress", "progress"),
    ],
)
def test_the_kind(
    asked: str,
    kind: str | None,
    sent: str,
    daemon: ConversationDaemon,
    open_inbox: OpenInbox,
) -> None:
    seq = daemon.say("a", "text", asked)["seq"]
    reply(daemon, open_inbox(), seq=seq, kind=kind)
    assert replies(daemon) == [(sent, "Done.", seq)]
    # Left out, it is the saved one's.
    assert reply(daemon, open_inbox(), seq=seq).was_there


def test_another_text_or_kind_is_refused(daemon: ConversationDaemon, open_inbox: OpenInbox) -> None:
    for kill in (Kill(SEND, "before"), None):
        if kill:
            with pytest.raises(KilledError):
                reply(daemon, open_inbox(), kill=kill)
        else:
            reply(daemon, open_inbox())
        for changed in ({"body": "Changed."}, {"kind": "note"}):
            with pytest.raises(IdempotencyKeyReusedError, match="a/1 was answered already"):
                reply(daemon, open_inbox(), **changed)  # type: ignore[arg-type]
    assert replies(daemon) == [("result", "Done.", 1)]


def test_another_text_is_refused_without_the_inbox_too(
    daemon: ConversationDaemon, open_inbox: OpenInbox, tmp_path: Path
) -> None:
    reply(daemon, open_inbox())
    elsewhere = Inbox(str(tmp_path / "elsewhere" / "bob.sqlite3"))
    with pytest.raises(IdempotencyKeyReusedError):
        reply(daemon, elsewhere, "Changed.")
    # It will never be sent, so it does not stand in the way of the one that was.
    assert reply(daemon, elsewhere) == Replied(2, was_there=True)
    elsewhere.close()
    assert replies(daemon) == [("result", "Done.", 1)]


@pytest.mark.parametrize("kill", KILLS, ids=str)
def test_killed_and_run_again(
    kill: Kill, daemon: ConversationDaemon, open_inbox: OpenInbox
) -> None:
    with pytest.raises(KilledError):
        reply(daemon, open_inbox(), kill=kill)
    assert reply(daemon, open_inbox()).seq == 2
    assert replies(daemon) == [("result", "Done.", 1)]
    assert daemon.rooms["a"].acknowledged == {1}
    assert not entry(open_inbox()).is_open


@pytest.mark.parametrize("kill", [Kill(SEND, "after"), None], ids=str)
def test_run_again_when_the_key_is_forgotten(
    kill: Kill | None, daemon: ConversationDaemon, open_inbox: OpenInbox, tmp_path: Path
) -> None:
    """After a week the daemon knows no key; the reply is found in the log."""
    if kill:
        with pytest.raises(KilledError):
            reply(daemon, open_inbox(), kill=kill)
    else:
        reply(daemon, open_inbox())
    daemon.forget_keys()
    for inbox in (open_inbox(), Inbox(str(tmp_path / "elsewhere" / "bob.sqlite3"))):
        assert reply(daemon, inbox) == Replied(2, was_there=True)
        inbox.close()
    assert replies(daemon) == [("result", "Done.", 1)]


def test_it_is_found_behind_other_replies(
    daemon: ConversationDaemon, open_inbox: OpenInbox
) -> None:
    for n in range(5):
        daemon.say_as_bob("a", f"part {n}", "result", reply_to=1)
    with pytest.raises(KilledError):
        reply(daemon, open_inbox(), kill=Kill(SEND + 3, "after"))
    daemon.forget_keys()
    assert reply(daemon, open_inbox()) == Replied(7, was_there=True)
    assert [body for _, body, _ in replies(daemon)] == [*(f"part {n}" for n in range(5)), "Done."]


def test_a_restored_database_that_lost_it_gets_it_again(
    daemon: ConversationDaemon, open_inbox: OpenInbox
) -> None:
    older = daemon.snapshot()
    reply(daemon, open_inbox())
    daemon.restore(older)
    daemon.say("a", "in between")
    assert reply(daemon, open_inbox()) == Replied(3, was_there=False)
    assert replies(daemon) == [("result", "Done.", 1)]
    assert daemon.rooms["a"].acknowledged == {1}


def test_killed_between_sending_it_again_and_acknowledging(
    daemon: ConversationDaemon, open_inbox: OpenInbox
) -> None:
    """That the message was acknowledged in the database that is no more does not count."""
    older = daemon.snapshot()
    reply(daemon, open_inbox())
    daemon.restore(older)
    with pytest.raises(KilledError):
        reply(daemon, open_inbox(), kill=Kill(ACKNOWLEDGE, "before"))
    reply(daemon, open_inbox())
    assert daemon.rooms["a"].acknowledged == {1}


def test_a_restored_database_that_has_it_does_not(
    daemon: ConversationDaemon, open_inbox: OpenInbox
) -> None:
    reply(daemon, open_inbox())
    daemon.restore(daemon.snapshot())
    assert reply(daemon, open_inbox()) == Replied(2, was_there=True)
    assert replies(daemon) == [("result", "Done.", 1)]


def test_a_message_that_is_another_one_now(
    daemon: ConversationDaemon, open_inbox: OpenInbox
) -> None:
    """The answer to what was lost is not put under what has its number now."""
    older = daemon.snapshot()
    daemon.say("a", "lost", "question")
    drain(daemon, open_inbox())
    daemon.restore(older)
    daemon.say("a", "said anew", "question")
    with pytest.raises(GenerationChangedError, match="a/2 is another one in the inbox"):
        reply(daemon, open_inbox(), seq=2)
    assert replies(daemon) == []
    # Known, it can be answered.
    drain(daemon, open_inbox())
    assert reply(daemon, open_inbox(), "Yes.", seq=2).seq == 3


def test_each_message_has_a_reply_of_its_own_after_a_restore(
    daemon: ConversationDaemon, open_inbox: OpenInbox
) -> None:
    older = daemon.snapshot()
    daemon.say("a", "lost", "question")
    drain(daemon, open_inbox())
    reply(daemon, open_inbox(), "To the lost one.", seq=2)
    daemon.restore(older)
    daemon.say("a", "said anew", "question")
    drain(daemon, open_inbox())
    assert reply(daemon, open_inbox(), "To the new one.", seq=2).seq == 3
    assert replies(daemon) == [("result", "To the new one.", 2)]


def test_what_cannot_be_answered(daemon: ConversationDaemon, open_inbox: OpenInbox) -> None:
    reply(daemon, open_inbox())
    with pytest.raises(OwnMessageError, match=r"a/2 is bob-1's own"):
        reply(daemon, open_inbox(), seq=2)
    with pytest.raises(MessageNotFoundError):
        reply(daemon, open_inbox(), seq=9)
    with pytest.raises(RoomNotFoundError, match="nowhere/1 is in no conversation of bob-1"):
        reply(daemon, open_inbox(), room="nowhere")
    assert len(replies(daemon)) == 1
    assert len(open_inbox().contents().entries) == 1


def test_what_the_daemon_will_never_take_can_be_said_in_another_way(
    daemon: ConversationDaemon, open_inbox: OpenInbox
) -> None:
    with pytest.raises(InvalidArgumentsError):
        reply(daemon, open_inbox(), kind="shout")
    assert entry(open_inbox()).reply is None
    reply(daemon, open_inbox(), "Better.")
    assert replies(daemon) == [("result", "Better.", 1)]


def test_what_the_daemon_does_not_take_now_stays_saved(
    daemon: ConversationDaemon, open_inbox: OpenInbox
) -> None:
    with pytest.raises(RateLimitedError):
        reply(daemon, open_inbox(), "too fast")
    saved = entry(open_inbox()).reply
    assert saved is not None
    assert saved.body == "too fast"
    with pytest.raises(IdempotencyKeyReusedError):
        reply(daemon, open_inbox(), "Another.")


steps = st.one_of(
    st.tuples(st.just("reply"), st.none() | st.sampled_from(KILLS)),
    st.tuples(st.just("forget keys")),
    st.tuples(st.just("snapshot")),
    st.tuples(st.just("restore")),
    st.tuples(st.just("listen")),
)


@given(st.lists(steps, max_size=12))
@settings(max_examples=40, deadline=None)
def test_any_order_of_things(script: list[tuple[Any, ...]]) -> None:
    daemon = ConversationDaemon()
    daemon.say("a", "Done?", "question")
    older = daemon.snapshot()
    with tempfile.TemporaryDirectory() as directory:
        path = str(Path(directory, "private", "bob.sqlite3"))
        for step in script:
            inbox = Inbox(path)
            try:
                match step:
                    case ("reply", kill):
                        reply(daemon, inbox, kill=kill)
                    case ("forget keys",):
                        daemon.forget_keys()
                    case ("snapshot",):
                        older = daemon.snapshot()
                    case ("restore",):
                        daemon.restore(older)
                    case ("listen",):
                        drain(daemon, inbox)
            except KilledError:
                pass
            finally:
                inbox.close()
            assert len(replies(daemon)) <= 1
        inbox = Inbox(path)
        reply(daemon, inbox)
        drain(daemon, inbox)
        [handled] = inbox.contents().entries
        inbox.close()
    assert replies(daemon) == [("result", "Done.", 1)]
    assert daemon.rooms["a"].acknowledged == {1}
    assert not handled.is_open
