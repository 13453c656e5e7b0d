from __future__ import annotations

import pytest

from coordroomsd.domain.commands import Needs
from coordroomsd.domain.conversations import OpenConversation, PeerPolicy
from coordroomsd.domain.participants import Actor
from tests.unit.domain.worlds import World, agent, draft, refused

ADA, BOB, OPERATOR = agent("ada"), agent("bob"), agent("boss", "human", "operator")
OPEN = PeerPolicy()


@pytest.fixture
def world() -> World:
    """Ada, Bob and the operator are known."""
    world = World()
    for number, actor in enumerate((ADA, BOB, OPERATOR)):
        world.make_room(f"room {number}", actor)
    return world


def test_two_agents_have_one_thread_whoever_opens_it(world: World) -> None:
    opened = world.do(OpenConversation(ADA, BOB, OPEN))
    assert opened.is_new
    assert (opened.room.kind, opened.room.name, opened.room.slug) == ("peer", None, None)
    again = world.do(OpenConversation(BOB, ADA, OPEN))
    assert not again.is_new
    assert again.room == opened.room
    assert world.spent == [("room", "ada", 1, 0)]


def test_its_two_members_are_active_and_its_log_is_empty(world: World) -> None:
    room = world.do(OpenConversation(ADA, BOB, OPEN)).room
    names = {member.author.conversation_id for member in room.memberships.values()}
    assert names == {"ada", "bob"}
    assert all(member.active for member in room.members.values())
    assert room.head == 0
    assert world.say(ADA, room.id, draft(kind="note")) == [1]


def test_with_the_operator_it_is_an_admin_thread(world: World) -> None:
    assert world.do(OpenConversation(ADA, OPERATOR, OPEN)).room.kind == "admin"
    assert world.do(OpenConversation(OPERATOR, BOB, OPEN)).room.kind == "admin"


def test_whoever_opens_one_need_not_be_known(world: World) -> None:
    opened = world.do(OpenConversation(agent("new"), ADA, OPEN))
    assert opened.is_new
    assert world.participant(agent("new"))


def test_the_other_must_be_known(world: World) -> None:
    with refused("participant_not_found"):
        world.do(OpenConversation(ADA, agent("nobody"), OPEN))


@pytest.mark.parametrize(
    ("peers", "allowed"),
    [
        ((("ada", "bob"),), True),
        ((("bob", "ada"),), True),
        ((("ada", "eve"), ("eve", "bob")), False),
        ((), False),
        ((("ada", "ada"),), False),
    ],
)
def test_a_list_lets_its_pairs_alone(
    world: World, peers: tuple[tuple[str, str], ...], allowed: bool
) -> None:
    command = OpenConversation(ADA, BOB, PeerPolicy("listed", peers))
    if allowed:
        assert world.do(command).is_new
    else:
        with refused("forbidden"):
            world.do(command)


def test_a_list_names_ids_or_names(world: World) -> None:
    laptop = agent("ada/laptop")
    policy = PeerPolicy("listed", (("ada", "bob"),))
    assert world.do(OpenConversation(laptop, BOB, policy)).is_new
    only_laptop = PeerPolicy("listed", (("ada/laptop", "bob"),))
    with refused("forbidden"):
        world.do(OpenConversation(ADA, BOB, only_laptop))


@pytest.mark.parametrize("actors", [(ADA, OPERATOR), (OPERATOR, ADA)])
def test_a_list_does_not_keep_the_operator_out(world: World, actors: tuple[Actor, Actor]) -> None:
    assert world.do(OpenConversation(*actors, PeerPolicy("listed"))).is_new


def test_an_empty_bucket_opens_nothing(world: World) -> None:
    world.empty_buckets.add("room")
    with refused("rate_limited"):
        world.do(OpenConversation(ADA, BOB, OPEN))


def test_what_it_needs() -> None:
    assert OpenConversation(ADA, BOB, OPEN).needs() == Needs(
        actor=ADA, others=(BOB,), pair=(ADA, BOB)
    )
