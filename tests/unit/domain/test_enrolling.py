from __future__ import annotations

import pytest

from coordroomsd.domain.commands import Needs
from coordroomsd.domain.enrolling import Offer, Revoke, TakeUp
from coordroomsd.domain.identities import (
    Enrolled,
    Enrollment,
    credential_of,
    secret_hash,
)
from coordroomsd.domain.participants import ParticipantKind, Role
from tests.unit.domain.worlds import World, agent, refused, second

CODE, TOKEN = secret_hash("code"), secret_hash("token")


@pytest.fixture
def world() -> World:
    return World()


def offer(
    name: str = "ada", kind: ParticipantKind = "agent", role: Role = "agent", code: bytes = CODE
) -> Offer:
    return Offer("default", name, kind, role, 60, code)


def enrol(world: World, token: bytes = TOKEN, code: bytes = CODE) -> Enrolled:
    enrolled: Enrolled = world.do(TakeUp(code, token))
    return enrolled


def test_a_code_is_used_once(world: World) -> None:
    offered = world.do(offer())
    assert offered == Enrollment(CODE, "default", "ada", "agent", "agent", second(60))
    assert enrol(world) == Enrolled("default", "ada", "agent", "agent", TOKEN)
    assert world.participant(agent("ada"))
    with refused("enrollment_invalid"):
        enrol(world)


def test_a_code_runs_out(world: World) -> None:
    world.do(offer())
    world.pass_seconds(60)
    with refused("enrollment_invalid"):
        enrol(world)
    assert world.enrolled("default", "ada") is None


def test_an_unknown_code_is_refused(world: World) -> None:
    with refused("enrollment_invalid"):
        enrol(world)


def test_enrolling_again_replaces_the_token(world: World) -> None:
    world.do(offer())
    enrol(world)
    world.do(offer())
    assert enrol(world, secret_hash("newer")).token_hash == secret_hash("newer")


@pytest.mark.parametrize(
    ("kind", "role"), [("human", "human"), ("agent", "operator"), ("human", "operator")]
)
def test_a_name_keeps_kind_and_role(world: World, kind: ParticipantKind, role: Role) -> None:
    world.do(offer())
    enrol(world)
    with refused("participant_conflict"):
        world.do(offer(kind=kind, role=role))


def test_kind_and_role_are_checked_when_the_code_is_used_too(world: World) -> None:
    world.do(offer())
    other = secret_hash("other code")
    world.do(offer(kind="human", role="human", code=other))
    enrol(world)
    with refused("participant_conflict"):
        enrol(world, code=other)


@pytest.mark.parametrize("used", ["ada", "ada/laptop"])
def test_a_name_used_on_the_socket_is_taken(world: World, used: str) -> None:
    world.do(offer())
    world.make_room("plan", agent(used))
    with refused("participant_conflict"):
        world.do(offer())
    with refused("participant_conflict"):
        enrol(world)


def test_revoking_ends_the_one_token_there_is(world: World) -> None:
    world.do(offer())
    enrol(world)
    assert world.do(Revoke("default", "ada")) == 1
    assert world.enrolled("default", "ada") == Enrolled("default", "ada", "agent", "agent", None)
    assert world.do(Revoke("default", "ada")) == 0
    assert world.do(Revoke("default", "nobody")) == 0
    assert world.do(Revoke("other", "ada")) == 0


def test_who_was_revoked_may_be_enrolled_anew(world: World) -> None:
    world.do(offer())
    enrol(world)
    world.do(Revoke("default", "ada"))
    with refused("participant_conflict"):
        world.do(offer(kind="human", role="human"))
    world.do(offer())
    assert enrol(world).token_hash == TOKEN


def test_what_they_need() -> None:
    assert offer().needs() == Needs(name=("default", "ada"))
    assert TakeUp(CODE, TOKEN).needs() == Needs(code_hash=CODE)
    assert Revoke("default", "ada").needs() == Needs()


def test_a_secret_is_kept_as_its_hash() -> None:
    assert len(CODE) == 32
    assert secret_hash("code") == CODE != TOKEN
    assert secret_hash("half a pair \udfff")


def test_a_credential_is_one_token_of_one_participant() -> None:
    ada = Enrolled("default", "ada", "agent", "agent", TOKEN)
    others = [ada._replace(project="other"), ada._replace(token_hash=secret_hash("next"))]
    assert credential_of(ada) not in map(credential_of, others)
