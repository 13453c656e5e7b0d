from __future__ import annotations

import pytest

from coordroomsd.domain.commands import Cursor, HeldReaction, Needs
from coordroomsd.domain.events import REACTIONS, Reaction
from coordroomsd.domain.members import Leave
from coordroomsd.domain.reactions import React, counts
from tests.unit.domain.worlds import World, agent, draft, refused

ADA, BOB, EVE = agent("ada"), agent("bob"), agent("eve", "human", "human")
PROTOCOL, SENTIMENT = ("ack", "agree", "decline"), ("like", "love", "fire", "ok")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def room_id(world: World) -> int:
    """Ada, Bob and Eve, who is a person, are in it; Ada's message is number 4."""
    room_id = world.make_room("plan", ADA, BOB, EVE)
    assert world.say(ADA, room_id, draft("proposal")) == [4]
    return room_id


def test_there_are_seven() -> None:
    assert set(REACTIONS) == {*PROTOCOL, *SENTIMENT}


@pytest.mark.parametrize("reaction", REACTIONS)
def test_a_reaction_is_added_once(world: World, room_id: int, reaction: str) -> None:
    done = world.do(React(BOB, room_id, 4, reaction))
    assert done.changed
    assert done.counts == {reaction: {"total": 1, "human": 0}}
    assert world.last(room_id).payload == Reaction(4, reaction)
    assert world.last(room_id).reason == "added"
    again = world.do(React(BOB, room_id, 4, reaction))
    assert (again.changed, again.counts) == (False, done.counts)
    assert world.rooms[room_id].head == 5
    assert world.spent == [("reaction", "bob", 1, 0)]


def test_removing_is_no_toggle_and_is_free(world: World, room_id: int) -> None:
    assert not world.do(React(BOB, room_id, 4, "ack", remove=True)).changed
    world.do(React(BOB, room_id, 4, "ack"))
    world.spent.clear()
    world.empty_buckets.add("reaction")
    done = world.do(React(BOB, room_id, 4, "ack", remove=True))
    assert (done.changed, done.counts) == (True, {})
    assert world.last(room_id).reason == "removed"
    assert world.rooms[room_id].head == 6


def test_people_are_counted_apart(world: World, room_id: int) -> None:
    for actor in (BOB, EVE):
        done = world.do(React(actor, room_id, 4, "agree"))
    world.do(React(EVE, room_id, 4, "like"))
    assert done.counts == {"agree": {"total": 2, "human": 1}}
    held = world.reactions(room_id, 4)
    assert counts(world.rooms[room_id], held) == {
        "agree": {"total": 2, "human": 1},
        "like": {"total": 1, "human": 1},
    }


@pytest.mark.parametrize("reaction", PROTOCOL)
def test_a_protocol_reaction_is_for_others_messages(
    world: World, room_id: int, reaction: str
) -> None:
    with refused("own_message", room="plan"):
        world.do(React(ADA, room_id, 4, reaction))
    assert not world.do(React(ADA, room_id, 4, reaction, remove=True)).changed


@pytest.mark.parametrize("reaction", SENTIMENT)
def test_one_may_like_one_s_own(world: World, room_id: int, reaction: str) -> None:
    assert world.do(React(ADA, room_id, 4, reaction)).changed


@pytest.mark.parametrize("message_id", [0, 1, 5, 99])
def test_only_a_message_is_reacted_to(world: World, room_id: int, message_id: int) -> None:
    with refused("message_not_found", room="plan"):
        world.do(React(BOB, room_id, message_id, "ack"))


def test_unseen_messages_are_counted_and_reactions_are_not(world: World, room_id: int) -> None:
    world.say(EVE, room_id, draft("1"), draft("2"))
    world.say(BOB, room_id, draft("mine"))
    world.do(React(ADA, room_id, 5, "ack"))
    assert world.do(React(BOB, room_id, 4, "ack", cursor=Cursor(4, None))).unseen == 2
    assert world.do(React(BOB, room_id, 4, "ack", cursor=Cursor(5, None))).unseen == 1
    assert world.do(React(BOB, room_id, 4, "ack")).unseen is None


def test_a_number_beyond_the_head_is_ahead(world: World, room_id: int) -> None:
    with refused("cursor_ahead", latest_seq=4):
        world.do(React(BOB, room_id, 4, "ack", cursor=Cursor(5, None)))


def test_what_it_needs() -> None:
    assert React(BOB, 1, 4, "ack", cursor=Cursor(2, None)).needs() == Needs(
        room_id=1, actor=BOB, messages=(4,), reactions_of=4, unseen_after=2
    )


def test_reactions_stay_when_their_member_leaves(world: World, room_id: int) -> None:
    world.do(React(BOB, room_id, 4, "ack"))
    bob = world.member(BOB, room_id)
    world.do(Leave(BOB, room_id))
    assert world.reactions(room_id, 4) == {HeldReaction(bob.id, "ack")}
    with refused("active_membership_not_found"):
        world.do(React(BOB, room_id, 4, "ack", remove=True))


def test_an_empty_bucket_adds_nothing(world: World, room_id: int) -> None:
    world.do(React(BOB, room_id, 4, "ack"))
    world.empty_buckets.add("reaction")
    with refused("rate_limited"):
        world.do(React(BOB, room_id, 4, "agree"))
    assert not world.do(React(BOB, room_id, 4, "ack")).changed
