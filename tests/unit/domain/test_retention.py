from __future__ import annotations

import pytest

from coordroomsd.domain.commands import Needs
from coordroomsd.domain.retention import MOST_AT_ONCE, Remove, SetPolicy
from tests.unit.domain.worlds import World, agent, draft

ADA = agent("ada")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def room_id(world: World) -> int:
    """A room with 10 events."""
    room_id = world.make_room("plan", ADA)
    world.say(ADA, room_id, *[draft()] * 9)
    return room_id


def test_a_policy_is_kept_without_an_event(world: World, room_id: int) -> None:
    room = world.do(SetPolicy(room_id, 3600, None))
    assert (room.max_age_s, room.max_events, room.head) == (3600, None, 10)
    room = world.do(SetPolicy(room_id, None, 100))
    assert (room.max_age_s, room.max_events) == (None, 100)
    assert SetPolicy(room_id, 1, 1).needs() == Needs(room_id=room_id)


@pytest.mark.parametrize(("wanted", "first_seq"), [(4, 4), (10, 10), (11, 10), (99, 10), (0, 1)])
def test_a_removal_leaves_the_head(world: World, room_id: int, wanted: int, first_seq: int) -> None:
    decision = world.decide(Remove(room_id, wanted))
    assert decision.removes
    assert decision.events == ()
    assert world.do(Remove(room_id, wanted)).first_seq == first_seq


def test_a_removal_does_not_go_back(world: World, room_id: int) -> None:
    world.do(Remove(room_id, 5))
    assert world.do(Remove(room_id, 3)).first_seq == 5


def test_much_is_removed_in_steps(world: World, room_id: int) -> None:
    world.say(ADA, room_id, *[draft()] * (2 * MOST_AT_ONCE))
    head = world.rooms[room_id].head
    assert world.do(Remove(room_id, head)).first_seq == 1 + MOST_AT_ONCE
    assert world.do(Remove(room_id, head)).first_seq == 1 + 2 * MOST_AT_ONCE
    assert world.do(Remove(room_id, head)).first_seq == head
