from __future__ import annotations

import pytest

from coordroomsd.domain import ids
from coordroomsd.domain.claims import ClaimKey
from coordroomsd.domain.commands import Cursor, Needs
from coordroomsd.domain.members import CreateRoom, Join, Leave, check_cursor, reference
from coordroomsd.domain.rooms import Room
from coordroomsd.domain.statuses import SetStatus
from tests.unit.domain.worlds import START, World, agent, refused

ADA, BOB = agent("ada"), agent("bob")


@pytest.fixture
def world() -> World:
    return World()


def conversation(world: World) -> int:
    room = Room(world.new_id(), "default", "peer", None, None, START)
    world.rooms[room.id] = room
    world.logs[room.id] = []
    return room.id


class TestCreating:
    def test_whoever_makes_a_room_is_in_it(self, world: World) -> None:
        entered = world.do(CreateRoom(ADA, "The Plan"))
        assert (entered.room.name, entered.room.slug, entered.room.head) == (
            "The Plan",
            "the-plan",
            1,
        )
        assert entered.member.active
        assert entered.joined_seq == 1
        assert world.lines(entered.room.id) == [(1, "member", "joined")]
        participant = world.participant(ADA)
        assert participant
        assert participant.active_room_id == participant.last_room_id == entered.room.id
        assert world.spent == [("room", "ada", 1, 0)]

    def test_what_it_needs_is_the_slug(self) -> None:
        assert CreateRoom(ADA, "The Plan").needs() == Needs(actor=ADA, slug=("default", "the-plan"))

    def test_a_name_of_the_same_slug_is_taken(self, world: World) -> None:
        world.make_room("The Plan", ADA)
        with refused("room_name_conflict", room="the-plan"):
            world.do(CreateRoom(BOB, "the  PLAN!"))
        assert world.spent == []

    def test_who_is_active_elsewhere_makes_no_room(self, world: World) -> None:
        world.make_room("plan", ADA)
        with refused("active_membership_conflict", room="plan"):
            world.do(CreateRoom(ADA, "other"))
        assert len(world.rooms) == 1

    def test_the_active_room_comes_before_the_name(self, world: World) -> None:
        world.make_room("plan", ADA)
        with refused("active_membership_conflict"):
            world.do(CreateRoom(ADA, "plan"))

    def test_an_empty_bucket_leaves_nothing_behind(self, world: World) -> None:
        world.empty_buckets.add("room")
        with refused("rate_limited"):
            world.do(CreateRoom(ADA, "plan"))
        assert not world.rooms
        assert world.participant(ADA) is None


class TestJoining:
    def test_a_newcomer_gets_a_membership(self, world: World) -> None:
        room_id = world.make_room("plan", ADA)
        entered = world.do(Join(BOB, room_id))
        assert entered.joined_seq == 2
        assert entered.member.author.conversation_id == "bob"
        assert world.spent == [("room", "bob", 1, 0)]

    def test_joining_again_changes_nothing_and_costs_nothing(self, world: World) -> None:
        room_id = world.make_room("plan", ADA)
        entered = world.do(Join(ADA, room_id))
        assert entered.joined_seq is None
        assert world.lines(room_id) == [(1, "member", "joined")]
        assert world.spent == []

    def test_who_left_comes_back_as_the_same_member(self, world: World) -> None:
        room_id = world.make_room("plan", ADA, BOB)
        before = world.member(BOB, room_id)
        world.do(Leave(BOB, room_id))
        entered = world.do(Join(BOB, room_id))
        assert entered.member == before
        assert entered.joined_seq == 4

    def test_one_is_active_in_one_room(self, world: World) -> None:
        world.make_room("plan", ADA)
        other = world.make_room("other", BOB)
        with refused("active_membership_conflict", room="plan"):
            world.do(Join(ADA, other))

    def test_after_leaving_one_may_join_another(self, world: World) -> None:
        plan = world.make_room("plan", ADA)
        other = world.make_room("other", BOB)
        world.do(Leave(ADA, plan))
        assert world.do(Join(ADA, other)).member.active

    def test_a_conversation_is_not_joined(self, world: World) -> None:
        room_id = conversation(world)
        with refused("forbidden", room=ids.room_id(room_id)):
            world.do(Join(ADA, room_id))

    def test_who_acts_below_a_name_is_called_by_it(self, world: World) -> None:
        room_id = world.make_room("plan", ADA)
        entered = world.do(Join(agent("eve/laptop", "human"), room_id))
        assert entered.member.author.name == "eve"
        assert entered.member.author.kind == "human"

    def test_what_ran_out_ends_before_the_arrival(self, world: World) -> None:
        room_id = world.make_room("plan", ADA)
        world.do(SetStatus(ADA, room_id, "reading", 10))
        world.pass_seconds(10)
        assert world.do(Join(BOB, room_id)).joined_seq == 4
        assert world.lines(room_id)[2:] == [(3, "status", "expired"), (4, "member", "joined")]


class TestLeaving:
    def test_claims_then_the_status_then_the_place(self, world: World) -> None:
        room_id = world.make_room("plan", ADA, BOB)
        world.do(ClaimKey(ADA, room_id, "z", 60))
        world.do(ClaimKey(BOB, room_id, "theirs", 60))
        world.do(ClaimKey(ADA, room_id, "a", 60))
        world.do(SetStatus(ADA, room_id, "reading", 10))
        entered = world.do(Leave(ADA, room_id))
        assert world.lines(room_id)[6:] == [
            (7, "claim", "left"),
            (8, "claim", "left"),
            (9, "status", "left"),
            (10, "member", "left"),
        ]
        ended = [event.payload for event in world.logs[room_id][6:8]]
        assert [getattr(payload, "key", None) for payload in ended] == ["z", "a"]
        assert not entered.member.active
        assert set(entered.room.claims) == {"theirs"}
        participant = world.participant(ADA)
        assert participant
        assert (participant.active_room_id, participant.last_room_id) == (None, room_id)

    def test_leaving_again_changes_nothing(self, world: World) -> None:
        room_id = world.make_room("plan", ADA)
        world.do(Leave(ADA, room_id))
        lines = world.lines(room_id)
        assert not world.do(Leave(ADA, room_id)).member.active
        assert world.lines(room_id) == lines

    def test_leaving_is_free(self, world: World) -> None:
        room_id = world.make_room("plan", ADA)
        world.do(Leave(ADA, room_id))
        assert world.spent == []

    def test_a_status_that_ran_out_has_expired_and_not_left(self, world: World) -> None:
        room_id = world.make_room("plan", ADA)
        world.do(SetStatus(ADA, room_id, "reading", 10))
        world.pass_seconds(10)
        world.do(Leave(ADA, room_id))
        assert world.lines(room_id)[2:] == [(3, "status", "expired"), (4, "member", "left")]

    def test_who_never_joined_cannot_leave(self, world: World) -> None:
        room_id = world.make_room("plan", ADA)
        with refused("membership_not_found", room="plan"):
            world.do(Leave(BOB, room_id))

    def test_a_conversation_is_not_left(self, world: World) -> None:
        with refused("forbidden"):
            world.do(Leave(ADA, conversation(world)))


class TestCursors:
    def test_a_number_up_to_the_head_is_fine(self, world: World) -> None:
        room = world.rooms[world.make_room("plan", ADA)]
        for after_seq in (None, 0, 1):
            check_cursor(world, room, Cursor(after_seq, None))
            check_cursor(world, room, Cursor(after_seq, "g1"))

    def test_a_number_beyond_the_head_is_ahead(self, world: World) -> None:
        room = world.rooms[world.make_room("plan", ADA)]
        with refused("cursor_ahead", latest_seq=1, generation="g1", room="plan"):
            check_cursor(world, room, Cursor(2, None))

    def test_another_generation_comes_first(self, world: World) -> None:
        room = world.rooms[world.make_room("plan", ADA)]
        for after_seq in (None, 0, 2):
            with refused("generation_changed", latest_seq=1, generation="g1", room="plan"):
                check_cursor(world, room, Cursor(after_seq, "g0"))


def test_a_room_is_called_by_its_slug_and_a_conversation_by_its_id(world: World) -> None:
    assert reference(world.rooms[world.make_room("The Plan", ADA)]) == "the-plan"
    room_id = conversation(world)
    assert reference(world.rooms[room_id]) == ids.room_id(room_id)
