from __future__ import annotations

import pytest

from coordroomsd.domain.claims import EndOverdue
from coordroomsd.domain.events import StatusLine
from coordroomsd.domain.members import Leave
from coordroomsd.domain.rooms import Room, Status
from coordroomsd.domain.statuses import SetStatus
from tests.unit.domain.worlds import START, World, agent, refused, second

ADA, BOB = agent("ada"), agent("bob")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def room_id(world: World) -> int:
    """Ada and Bob are in it; its head is 2."""
    return world.make_room("plan", ADA, BOB)


def test_a_status_begins_now_and_ends_by_itself(world: World, room_id: int) -> None:
    done = world.do(SetStatus(ADA, room_id, "reading", 300))
    assert done.status == Status("reading", START, second(300))
    assert done.changed
    assert world.last(room_id).payload == StatusLine("reading", START, second(300))
    assert world.spent == [("status", "ada", 1, 0)]


def test_the_text_one_has_only_moves_the_end(world: World, room_id: int) -> None:
    world.do(SetStatus(ADA, room_id, "reading", 300))
    world.pass_seconds(100)
    world.spent.clear()
    decision = world.decide(SetStatus(ADA, room_id, "reading", 50))
    done = world.do(SetStatus(ADA, room_id, "reading", 50))
    assert not done.changed
    assert done.status == Status("reading", START, second(150))
    assert decision.events == ()
    assert decision.extended == ((world.member(ADA, room_id).id, done.status),)
    assert world.rooms[room_id].next_deadline == second(150)
    assert world.spent == []


def test_another_text_begins_anew(world: World, room_id: int) -> None:
    world.do(SetStatus(ADA, room_id, "reading", 300))
    world.pass_seconds(100)
    done = world.do(SetStatus(ADA, room_id, "writing", 300))
    assert done.status.since == second(100)
    assert world.lines(room_id)[2:] == [(3, "status", "set"), (4, "status", "set")]


def test_the_same_text_after_it_ran_out_begins_anew(world: World, room_id: int) -> None:
    world.do(SetStatus(ADA, room_id, "reading", 10))
    world.pass_seconds(10)
    done = world.do(SetStatus(ADA, room_id, "reading", 10))
    assert done.changed
    assert done.status.since == second(10)
    assert world.lines(room_id)[3:] == [(4, "status", "expired"), (5, "status", "set")]


def test_clearing_tells_what_ended_and_is_free(world: World, room_id: int) -> None:
    world.do(SetStatus(ADA, room_id, "reading", 300))
    world.spent.clear()
    done = world.do(SetStatus(ADA, room_id, None, 300))
    assert (done.status, done.changed) == (None, True)
    last = world.last(room_id)
    assert (last.reason, last.by_daemon) == ("cleared", False)
    assert last.payload == StatusLine("reading", START, second(300))
    assert world.spent == []


def test_clearing_nothing_changes_nothing(world: World, room_id: int) -> None:
    done = world.do(SetStatus(ADA, room_id, None, 300))
    assert (done.status, done.changed) == (None, False)
    assert world.rooms[room_id].head == 2


def test_clearing_what_ran_out_is_an_expiry(world: World, room_id: int) -> None:
    world.do(SetStatus(ADA, room_id, "reading", 10))
    world.pass_seconds(10)
    assert not world.do(SetStatus(ADA, room_id, None, 10)).changed
    assert world.lines(room_id)[2:] == [(3, "status", "set"), (4, "status", "expired")]


def test_the_clock_ends_it_once(world: World, room_id: int) -> None:
    world.do(SetStatus(ADA, room_id, "reading", 10))
    world.pass_seconds(9.999)
    world.do(EndOverdue(room_id))
    assert world.rooms[room_id].head == 3
    world.pass_seconds(0.001)
    world.do(EndOverdue(room_id))
    world.do(EndOverdue(room_id))
    assert world.lines(room_id)[3:] == [(4, "status", "expired")]
    last = world.last(room_id)
    assert last.by_daemon
    assert last.who.conversation_id == "ada"


def test_each_member_has_a_status_of_its_own(world: World, room_id: int) -> None:
    world.do(SetStatus(ADA, room_id, "same", 300))
    assert world.do(SetStatus(BOB, room_id, "same", 300)).changed
    assert len(world.rooms[room_id].statuses) == 2


def test_an_empty_bucket_changes_nothing(world: World, room_id: int) -> None:
    world.do(SetStatus(ADA, room_id, "reading", 300))
    world.empty_buckets.add("status")
    with refused("rate_limited"):
        world.do(SetStatus(ADA, room_id, "writing", 300))
    assert world.do(SetStatus(ADA, room_id, "reading", 300)).status.status == "reading"
    assert world.do(SetStatus(ADA, room_id, None, 300)).changed


def test_who_has_left_has_no_status(world: World, room_id: int) -> None:
    world.do(Leave(ADA, room_id))
    with refused("active_membership_not_found", room="plan"):
        world.do(SetStatus(ADA, room_id, "reading", 300))
    with refused("membership_not_found", room="plan"):
        world.do(SetStatus(agent("eve"), room_id, "reading", 300))


def test_a_conversation_has_no_statuses(world: World) -> None:
    world.rooms[9] = Room(9, "default", "peer", None, None, START)
    with refused("forbidden"):
        world.do(SetStatus(ADA, 9, "reading", 300))
