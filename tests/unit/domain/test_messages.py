from __future__ import annotations

import pytest

from coordroomsd.domain.claims import ClaimKey, Release
from coordroomsd.domain.commands import Condition, Cursor, Needs
from coordroomsd.domain.events import Message
from coordroomsd.domain.members import Leave
from coordroomsd.domain.messages import Post
from coordroomsd.domain.statuses import SetStatus
from tests.unit.domain.worlds import World, agent, draft, refused

ADA, BOB, EVE = agent("ada"), agent("bob"), agent("eve")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def room_id(world: World) -> int:
    """Ada and Bob are in it; its head is 2."""
    return world.make_room("plan", ADA, BOB)


def test_messages_are_stored_one_after_the_other(world: World, room_id: int) -> None:
    posted = world.do(Post(ADA, room_id, (draft("one"), draft("twö", "warning"))))
    assert [event.seq for event in posted.messages] == [3, 4]
    assert [event.payload for event in posted.messages] == [
        Message("decision", "one", None),
        Message("warning", "twö", None),
    ]
    assert posted.unseen is None
    assert world.spent == [("message", "ada", 2, 0), ("body", "ada", 7, 0)]


def test_what_it_needs_are_the_targets_once_each() -> None:
    drafts = (draft(), draft("a", "answer", 3), draft("b", "answer", 3))
    needs = Post(ADA, 1, drafts, Cursor(7, None)).needs()
    assert needs == Needs(room_id=1, actor=ADA, messages=(3,), unseen_after=7)


@pytest.mark.parametrize(
    ("actor", "leaves", "code"),
    [(EVE, False, "membership_not_found"), (BOB, True, "active_membership_not_found")],
)
def test_only_an_active_member_posts(
    world: World, room_id: int, actor: object, leaves: bool, code: str
) -> None:
    if leaves:
        world.do(Leave(BOB, room_id))
    who = EVE if actor is EVE else BOB
    with refused(code, room="plan"):
        world.do(Post(who, room_id, (draft(),)))


class TestAnswers:
    def test_an_answer_names_its_question(self, world: World, room_id: int) -> None:
        [question] = world.say(ADA, room_id, draft("why?", "question"))
        posted = world.do(Post(BOB, room_id, (draft("because", "answer", question),)))
        assert posted.targets[question].body == "why?"

    @pytest.mark.parametrize("kind", ["decision", "warning", "status", "answer"])
    def test_only_a_question_is_answered(self, world: World, room_id: int, kind: str) -> None:
        [question] = world.say(ADA, room_id, draft("why?", "question"))
        target = question if kind == "answer" else None
        [other] = world.say(ADA, room_id, draft("x", kind, target))
        with refused("reply_target_invalid", reply_to=other, room="plan"):
            world.do(Post(BOB, room_id, (draft("because", "answer", other),)))

    @pytest.mark.parametrize("target", [1, 3, 4, 99])
    def test_what_is_no_message_cannot_be_answered(
        self, world: World, room_id: int, target: int
    ) -> None:
        with refused("reply_target_invalid", reply_to=target):
            world.do(Post(BOB, room_id, (draft(), draft("because", "answer", target))))
        assert world.rooms[room_id].head == 2

    def test_one_bad_target_refuses_all(self, world: World, room_id: int) -> None:
        [question] = world.say(ADA, room_id, draft("why?", "question"))
        drafts = (draft("a", "answer", question), draft("b", "answer", 99))
        with refused("reply_target_invalid", reply_to=99):
            world.do(Post(BOB, room_id, drafts))
        assert world.rooms[room_id].head == question


class TestUnseen:
    def test_others_messages_after_the_number_are_counted(self, world: World, room_id: int) -> None:
        world.say(ADA, room_id, draft("1"), draft("2"))
        world.say(BOB, room_id, draft("mine"))
        world.do(SetStatus(ADA, room_id, "no message", 60))
        for after_seq, unseen in ((0, 2), (3, 1), (4, 0), (6, 0)):
            posted = world.do(Post(BOB, room_id, (draft(),), Cursor(after_seq, None)))
            assert posted.unseen == unseen

    def test_more_than_allowed_stores_nothing(self, world: World, room_id: int) -> None:
        world.say(ADA, room_id, draft("1"), draft("2"))
        with refused("unseen_messages", unseen=2, latest_seq=4, room="plan"):
            world.do(Post(BOB, room_id, (draft(),), Cursor(2, None), max_unseen=1))
        assert world.rooms[room_id].head == 4
        assert world.spent == []

    def test_as_many_as_allowed_is_fine(self, world: World, room_id: int) -> None:
        world.say(ADA, room_id, draft("1"), draft("2"))
        assert world.do(Post(BOB, room_id, (draft(),), Cursor(2, None), max_unseen=2)).unseen == 2

    def test_the_number_is_checked_before_the_targets(self, world: World, room_id: int) -> None:
        drafts = (draft("x", "answer", 99),)
        with refused("cursor_ahead"):
            world.do(Post(BOB, room_id, drafts, Cursor(3, None)))
        with refused("generation_changed"):
            world.do(Post(BOB, room_id, drafts, Cursor(None, "old")))


class TestUnderAClaim:
    def test_the_holder_of_the_fence_posts(self, world: World, room_id: int) -> None:
        fence = world.do(ClaimKey(ADA, room_id, "k", 60)).claim.fence
        posted = world.do(Post(ADA, room_id, (draft(),), condition=Condition("k", fence)))
        assert posted.messages

    def test_another_s_claim_is_named(self, world: World, room_id: int) -> None:
        fence = world.do(ClaimKey(ADA, room_id, "k", 60)).claim.fence
        with refused("not_claim_holder", room="plan"):
            world.do(Post(BOB, room_id, (draft(),), condition=Condition("k", fence)))

    def test_an_earlier_fence_is_stale(self, world: World, room_id: int) -> None:
        stale = world.do(ClaimKey(ADA, room_id, "k", 60)).claim.fence
        world.do(Release(ADA, room_id, "k"))
        world.do(ClaimKey(ADA, room_id, "k", 60))
        with refused("not_claim_holder"):
            world.do(Post(ADA, room_id, (draft(),), condition=Condition("k", stale)))

    def test_a_lease_that_ran_out_is_no_claim(self, world: World, room_id: int) -> None:
        fence = world.do(ClaimKey(ADA, room_id, "k", 60)).claim.fence
        world.pass_seconds(60)
        with refused("not_claim_holder", holder=None, expires_at=None):
            world.do(Post(ADA, room_id, (draft(),), condition=Condition("k", fence)))
        assert world.spent == [("claim", "ada", 1, room_id)]


def test_an_empty_bucket_stores_nothing(world: World, room_id: int) -> None:
    world.empty_buckets.add("message")
    with refused("rate_limited", retry_after_s=1):
        world.do(Post(ADA, room_id, (draft(),)))
    assert world.rooms[room_id].head == 2


def test_what_ran_out_ends_before_the_first_message(world: World, room_id: int) -> None:
    world.do(SetStatus(ADA, room_id, "reading", 10))
    world.pass_seconds(10)
    posted = world.do(Post(BOB, room_id, (draft(),)))
    assert [event.seq for event in posted.messages] == [5]
    assert world.lines(room_id)[-2:] == [(4, "status", "expired"), (5, "message", None)]
