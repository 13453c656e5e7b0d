"""Values from the daemon's JSON: what is read, what is ignored, what cannot be changed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from coordrooms import (
    Author,
    ClaimEvent,
    Event,
    Joined,
    Member,
    MemberEvent,
    Message,
    MultiWait,
    ReactionCount,
    ReactionEvent,
    RetentionGap,
    RoomInfo,
    StatusEvent,
    Unread,
    Wait,
)
from coordrooms.events import event
from coordrooms.events import message as message_of
from tests.unit.client import documents
from tests.unit.client.documents import ANN, AT, BOB

THEN = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def happened(type_: str, reason: str, **more: object) -> Event:
    return event({"seq": 5, "type": type_, "reason": reason, "at": AT, "author": BOB, **more})


def test_a_message_of_the_log() -> None:
    said = event(documents.message(5, "Which port?", kind="question"))
    assert isinstance(said, Message)
    assert (said.id, said.seq, said.kind, said.body) == (5, 5, "question", "Which port?")
    assert (said.at, said.author) == (THEN, Author.from_json(BOB))
    assert (said.reply_to, said.reply_target, said.reactions) == (None, None, {})


def test_a_message_of_history() -> None:
    said = message_of(
        documents.message(
            6,
            id=6,
            kind="answer",
            reply_to=5,
            reply_target={"id": 5, "kind": "question", "body": "Which port?", "author": ANN},
            reactions={"counts": {"ack": {"total": 2, "human": 1}}},
        )
    )
    assert said.reply_target is not None
    assert (said.reply_target.body, said.reply_target.removed) == ("Which port?", False)
    assert said.reactions == {"ack": ReactionCount(total=2, human=1)}


def test_a_reply_to_a_removed_message() -> None:
    said = message_of(documents.message(6, reply_target={"id": 5, "removed": True}))
    assert said.reply_target is not None
    assert (said.reply_target.id, said.reply_target.removed) == (5, True)
    assert (said.reply_target.body, said.reply_target.author) == (None, None)


def test_every_other_type_of_event() -> None:
    assert isinstance(happened("member", "joined"), MemberEvent)
    status = happened("status", "set", status="reading", since=AT, expires_at=AT)
    assert isinstance(status, StatusEvent)
    assert (status.status, status.since, status.expires_at) == ("reading", THEN, THEN)
    reaction = happened("reaction", "added", message_id=4, reaction="ack")
    assert isinstance(reaction, ReactionEvent)
    assert (reaction.message_id, reaction.reaction) == (4, "ack")
    claim = happened("claim", "claimed", key="k", fence=5, expires_at=AT, proposed_by_seq=None)
    assert isinstance(claim, ClaimEvent)
    assert (claim.key, claim.fence, claim.proposed_by_seq) == ("k", 5, None)


def test_what_the_daemon_did_by_itself_names_whom_it_concerns() -> None:
    data = {"seq": 5, "type": "status", "reason": "expired", "at": AT, "author": None}
    expired = event({**data, "participant": BOB, "status": "reading"})
    assert (expired.author, expired.participant) == (None, Author.from_json(BOB))


def test_a_newer_daemon_may_say_more() -> None:
    novel = happened("poll", "opened", options=["a", "b"])
    assert type(novel) is Event
    assert (novel.type, novel.reason, novel.seq) == ("poll", "opened", 5)
    assert RoomInfo.from_json(documents.room(colour="red")).slug == "the-room"


def test_events_can_be_matched() -> None:
    match event(documents.message(5, "Which port?", kind="question")):
        case Message(kind="question", body=body, author=Author(name=name)):
            assert (body, name) == ("Which port?", "bob")
        case _:
            pytest.fail("a question is a message")


def test_a_wait() -> None:
    data = documents.wait(4, documents.message(5), retention_gap={"from_seq": 2, "to_seq": 4})
    woken = Wait.from_json(data)
    assert (woken.room, woken.reason, woken.woken_by) == ("the-room", "event", (5,))
    assert [e.seq for e in woken.events] == [5]
    assert (woken.next_after_seq, woken.latest_seq, woken.has_more) == (5, 5, False)
    assert woken.retention_gap == RetentionGap(from_seq=2, to_seq=4)


def test_a_wait_on_many() -> None:
    news = documents.wait(4, documents.message(5))
    woken = MultiWait.from_json({"reason": "event", "rooms": {"the-room": news}})
    assert [e.seq for e in woken.rooms["the-room"].events] == [5]


def test_rooms_members_and_the_unread() -> None:
    joined = Joined.from_json(documents.joined())
    assert (joined.room.ref, joined.membership.cursor, joined.next_after_seq) == ("the-room", 3, 3)
    conversation = documents.room(id="c_1", name=None, slug=None, kind="peer", members=[ANN, BOB])
    room = RoomInfo.from_json(conversation)
    assert (room.ref, [member.name for member in room.members]) == ("c_1", ["ann", "bob"])
    status = {"status": "reading", "since": AT, "expires_at": AT}
    member = Member.from_json(documents.member(status=status))
    assert member.status is not None
    assert (member.status.status, member.status.since) == ("reading", THEN)
    unread = Unread.from_json(
        {
            "room": "the-room",
            "kind": "room",
            "messages": [documents.message(5)],
            "through_seq": 6,
            "has_more": False,
            "retention_gap": None,
            "generation": "g1",
        }
    )
    assert ([m.id for m in unread.messages], unread.through_seq) == ([5], 6)


def test_values_are_frozen_and_equal_by_what_they_hold() -> None:
    gap = RetentionGap(from_seq=2, to_seq=4)
    with pytest.raises(AttributeError):
        gap.from_seq = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del gap.from_seq
    assert gap == RetentionGap(from_seq=2, to_seq=4) != RetentionGap(from_seq=2, to_seq=5)
    assert len({gap, RetentionGap(from_seq=2, to_seq=4)}) == 1
    assert repr(gap) == "RetentionGap(from_seq=2, to_seq=4)"
    assert gap != ReactionCount(total=2, human=4)


@pytest.mark.parametrize("fields", [{"from_seq": 2}, {"from_seq": 2, "to_seq": 4, "at": 1}])
def test_a_value_has_all_its_fields_and_no_other(fields: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="RetentionGap: missing or unknown"):
        RetentionGap(**fields)
