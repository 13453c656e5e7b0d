"""What a batch amounts to: commands see what came before them, and each row is written once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from coordroomsd.domain.claims import ClaimKey, Release
from coordroomsd.domain.commands import Cursor, HeldReaction
from coordroomsd.domain.commands import Draft as MessageDraft
from coordroomsd.domain.conversations import OpenConversation, PeerPolicy
from coordroomsd.domain.enrolling import Offer, Revoke, TakeUp
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.members import CreateRoom, Join, Leave
from coordroomsd.domain.messages import Post
from coordroomsd.domain.reactions import React
from coordroomsd.domain.retention import Remove, SetPolicy
from coordroomsd.domain.statuses import SetStatus
from coordroomsd.store.rows import Expected, Position
from tests.clocks import START
from tests.unit.journal.drafts import ADA, BOB, EVE, ROOM, Committed, do


@pytest.fixture
def committed() -> Committed:
    return Committed()


def say(*bodies: str, kind: str = "decision", reply_to: int | None = None) -> Post:
    drafts = tuple(MessageDraft(kind, body, reply_to) for body in bodies)
    return Post(ADA, ROOM, drafts)


class TestSeeing:
    def test_numbers_go_on_from_command_to_command(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, say("a"), say("b", "c"))
        rows = draft.rows()
        assert [event.seq for _, event in rows.events] == [3, 4, 5]
        expected, room = rows.heads[ROOM]
        assert (expected, room.head) == (2, 5)
        assert committed.live.state.head == 2

    def test_a_question_of_the_same_batch_is_answered(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, say("why?", kind="question"), say("because", kind="answer", reply_to=3))
        assert draft.message(ROOM, 3)
        assert draft.message(ROOM, 5) is None
        assert draft.message(ROOM, 1) is None

    def test_a_refused_command_leaves_nothing(self, committed: Committed) -> None:
        draft = committed.draft()
        with pytest.raises(Refusal):
            do(draft, say("x", kind="answer", reply_to=9))
        assert not draft.rows()

    def test_a_claim_of_the_same_batch_is_held(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, ClaimKey(ADA, ROOM, "k", 60))
        with pytest.raises(Refusal, match="claim_conflict"):
            do(draft, ClaimKey(BOB, ROOM, "k", 60))
        do(draft, Release(ADA, ROOM, "k"), ClaimKey(BOB, ROOM, "k", 60))
        assert draft.room(ROOM).claims["k"].holder.name == "bob"

    def test_a_room_made_in_it_has_its_name(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, CreateRoom(EVE, "Other"))
        with pytest.raises(Refusal, match="room_name_conflict"):
            do(draft, CreateRoom(replace(EVE, conversation_id="new"), "other"))
        assert draft.room_of_slug("default", "other")
        assert draft.room_of_slug("elsewhere", "other") is None

    def test_one_is_active_in_one_room_within_a_batch_too(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, CreateRoom(EVE, "Other"))
        with pytest.raises(Refusal, match="active_membership_conflict"):
            do(draft, Join(EVE, ROOM))

    def test_a_conversation_opened_in_it_is_the_one(self, committed: Committed) -> None:
        draft = committed.draft()
        [first, second] = do(
            draft,
            OpenConversation(ADA, BOB, PeerPolicy()),
            OpenConversation(BOB, ADA, PeerPolicy()),
        )
        assert second == replace_is_new(first)

    def test_unseen_counts_what_the_batch_has_added(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, say("a", "b"))
        posted: Any = do(draft, Post(BOB, ROOM, (MessageDraft("status", "x"),), Cursor(2)))[0]
        assert posted.unseen == 2
        assert draft.unseen(ROOM, 3, 2) == 1
        assert draft.unseen(ROOM, 4, 2) == 0
        assert draft.unseen(ROOM, 2, 1) == 1

    def test_reactions_of_the_same_batch_are_held(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, say("a"), React(BOB, ROOM, 3, "ack"))
        assert draft.reactions(ROOM, 3) == {HeldReaction(2, "ack")}
        [again] = do(draft, React(BOB, ROOM, 3, "ack"))
        assert not again.changed  # type: ignore[attr-defined]

    def test_a_code_of_the_same_batch_is_used_once(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, Offer("default", "new", "human", "human", 60, b"code"), TakeUp(b"code", b"token"))
        with pytest.raises(Refusal, match="enrollment_invalid"):
            do(draft, TakeUp(b"code", b"token"))
        assert draft.enrolled("default", "new")
        assert do(draft, Revoke("default", "new"), Revoke("default", "new")) == [1, 0]
        rows = draft.rows()
        assert rows.enrollments == {b"code": None}
        assert [enrolled.token_hash for enrolled in rows.enrolled.values()] == [None]


def replace_is_new(opened: Any) -> Any:
    return opened._replace(is_new=False)


class TestRows:
    """One row a key, however often a batch has changed it."""

    def test_nothing_decided_is_nothing_to_write(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, Join(ADA, ROOM), SetStatus(ADA, ROOM, None, 60), Release(ADA, ROOM, "k"))
        assert not draft.rows()

    def test_of_several_statuses_the_last_stands(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, SetStatus(ADA, ROOM, "a", 60), SetStatus(ADA, ROOM, "b", 60))
        assert len(draft.rows().events) == 2
        assert draft.rows().statuses == {(ROOM, 1): draft.room(ROOM).statuses[1]}
        do(draft, SetStatus(ADA, ROOM, None, 60))
        assert draft.rows().statuses == {(ROOM, 1): None}

    def test_a_status_whose_end_moved_is_written_without_an_event(
        self, committed: Committed
    ) -> None:
        draft = committed.draft()
        do(draft, SetStatus(ADA, ROOM, "a", 60))
        committed.commit(draft.room(ROOM), draft.rooms[ROOM].events)
        later = committed.draft()
        do(later, SetStatus(ADA, ROOM, "a", 600))
        rows = later.rows()
        assert rows
        assert (rows.events, rows.heads) == ([], {})
        status = rows.statuses[ROOM, 1]
        assert status
        assert status.expires_at == START + timedelta(seconds=600)
        do(later, SetStatus(ADA, ROOM, None, 60))
        assert later.rows().statuses == {(ROOM, 1): None}

    def test_a_claim_that_went_from_hand_to_hand_is_the_last_one_s(
        self, committed: Committed
    ) -> None:
        draft = committed.draft()
        do(
            draft,
            ClaimKey(ADA, ROOM, "k", 60),
            ClaimKey(ADA, ROOM, "k", 120),
            Release(ADA, ROOM, "k"),
            ClaimKey(BOB, ROOM, "k", 60),
        )
        [claim] = draft.rows().claims.values()
        assert claim
        assert (claim.holder.name, claim.fence) == ("bob", 6)
        do(draft, Release(BOB, ROOM, "k"))
        assert draft.rows().claims == {(ROOM, "k"): None}

    def test_a_reaction_added_and_removed_is_gone(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, say("a"), React(BOB, ROOM, 3, "ack"), React(BOB, ROOM, 3, "fire"))
        do(draft, React(BOB, ROOM, 3, "ack", remove=True))
        assert draft.rows().reactions == {
            (ROOM, 3, 2, "ack"): None,
            (ROOM, 3, 2, "fire"): START,
        }

    def test_a_newcomer_begins_at_its_own_arrival(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, say("a"), Join(EVE, ROOM), say("b"))
        rows = draft.rows()
        [(member, position)] = rows.memberships.values()
        assert (member.author.name, member.active) == ("eve", True)
        assert position == Position(4, 4, START)
        assert rows.arrivals == {(ROOM, member.id, 4): None}
        assert [p.conversation_id for p in rows.participants.values()] == ["eve"]

    def test_who_comes_and_goes_and_comes_has_two_spans(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, Join(EVE, ROOM), Leave(EVE, ROOM), Join(EVE, ROOM))
        rows = draft.rows()
        [(member, position)] = rows.memberships.values()
        assert member.active
        assert position == Position(3, 3, START)
        assert rows.arrivals == {(ROOM, member.id, 3): 4, (ROOM, member.id, 5): None}
        assert rows.departures == {}

    def test_who_goes_and_comes_keeps_its_position(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, Leave(BOB, ROOM), Join(BOB, ROOM))
        rows = draft.rows()
        assert rows.memberships[ROOM, 2][1] == Position(2, 2, START)
        assert rows.departures == {(ROOM, 2): 3}
        assert rows.arrivals == {(ROOM, 2, 4): None}

    def test_a_new_room_is_written_with_its_head(self, committed: Committed) -> None:
        draft = committed.draft()
        [entered] = do(draft, CreateRoom(EVE, "Other"))
        rows = draft.rows()
        [(room, pair)] = rows.new_rooms.values()
        assert (room.slug, room.head, pair) == ("other", 1, None)
        assert rows.heads == {}
        [participant] = rows.participants.values()
        assert participant.active_room_id == room.id
        assert entered.joined_seq == 1  # type: ignore[attr-defined]

    def test_a_conversation_has_members_from_the_beginning(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, OpenConversation(ADA, BOB, PeerPolicy()))
        rows = draft.rows()
        [(room, pair)] = rows.new_rooms.values()
        assert (room.head, pair) == (0, (11, 12))
        assert [position for _, position in rows.memberships.values()] == [
            Position(0, 0, START)
        ] * 2
        assert {arrived for _, _, arrived in rows.arrivals} == {0}
        assert rows.events == []

    def test_a_policy_is_written_without_an_event(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, SetPolicy(ROOM, 60, None))
        expected, room = draft.rows().heads[ROOM]
        assert (expected, room.head, room.max_age_s) == (2, 2, 60)
        assert draft.rows().removals == {}

    def test_a_removal_is_written(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, say("a"), Remove(ROOM, 3))
        rows = draft.rows()
        assert rows.removals == {ROOM: 3}
        assert rows.heads[ROOM][1].first_seq == 3


class TestBuckets:
    def test_what_was_not_stored_is_given_back(self, committed: Committed) -> None:
        draft = committed.draft()
        do(draft, say(*["x"] * 100))
        with pytest.raises(Refusal, match="rate_limited"):
            do(draft, say("one more"))
        draft.refund()
        do(committed.draft(), say(*["x"] * 100))

    def test_claims_have_a_bucket_in_each_room(self, committed: Committed) -> None:
        draft = committed.draft()
        for _ in range(100):
            do(draft, ClaimKey(ADA, ROOM, "k", 60))
        with pytest.raises(Refusal, match="rate_limited"):
            do(draft, ClaimKey(ADA, ROOM, "k", 60))
        draft.spend("claim", ADA, 100, ROOM + 1)


def test_events_are_counted_by_type(committed: Committed) -> None:
    draft = committed.draft()
    do(draft, say("a", "b"), Join(EVE, ROOM), SetStatus(EVE, ROOM, "x", 60))
    assert draft.event_types() == {"message": 2, "member": 1, "status": 1}


class TestShared:
    """What a batch expects of a database that others write to."""

    def test_a_room_is_expected_as_it_was_decided_on(self) -> None:
        world = Committed()
        world.live.version = 7
        draft = world.draft()
        do(draft, Post(ADA, ROOM, (MessageDraft("status", "x"),)))
        expected = draft.shared_rows().expected
        assert expected == Expected({ROOM: 7}, {}, None)

    def test_so_is_one_whose_status_only_goes_on(self) -> None:
        """Else another daemon would end it at the time that it remembers."""
        world = Committed()
        draft = world.draft()
        do(draft, SetStatus(ADA, ROOM, "x", 60))
        world.commit(draft.rooms[ROOM].state, draft.rooms[ROOM].events)
        draft = world.draft()
        do(draft, SetStatus(ADA, ROOM, "x", 600))
        assert draft.rows().heads == {}
        rows = draft.shared_rows()
        assert rows.expected == Expected({ROOM: 0}, {}, None)
        assert list(rows.heads) == [ROOM]

    def test_who_joins_or_leaves_is_expected_where_it_was(self) -> None:
        draft = Committed().draft()
        do(draft, Leave(BOB, ROOM))
        expected = draft.shared_rows().expected
        assert expected is not None
        assert expected.participants == {12: ROOM}

    def test_what_changes_nothing_expects_nothing(self) -> None:
        draft = Committed().draft()
        do(draft, Release(ADA, ROOM, "k"))
        assert not draft.shared_rows()
