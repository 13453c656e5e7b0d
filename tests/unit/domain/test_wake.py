from __future__ import annotations

import pytest

from coordroomsd.domain.claims import ClaimKey, EndOverdue
from coordroomsd.domain.events import Event, EventType, Lease, Message, Payload, StatusLine
from coordroomsd.domain.participants import Author
from coordroomsd.domain.wake import Interest, interest, parse_target, split_wake_on
from tests.unit.domain.worlds import START, World, agent

ADA = Author(1, "ada", "ada", "agent")


def happens(event_type: EventType, reason: str | None = None, payload: Payload = None) -> Event:
    return Event(9, event_type, reason, START, ADA, reason == "expired", payload)


MESSAGE = happens("message", None, Message("decision", "x", None))
ANSWER = happens("message", None, Message("answer", "x", 4))
EXPIRED_STATUS = happens("status", "expired", StatusLine("x", START, START))
EXPIRED_CLAIM = happens("claim", "expired", Lease("k", 1, START, None))


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        (["message"], ["message"]),
        (["message,status"], ["message", "status"]),
        (["message", "claim,member"], ["message", "claim", "member"]),
        (["free:a,b"], ["free:a,b"]),
        (["answer:3", "message"], ["answer:3", "message"]),
        (["message,"], ["message", ""]),
    ],
)
def test_kinds_are_split_and_targets_are_not(values: list[str], parts: list[str]) -> None:
    assert split_wake_on(values) == parts


@pytest.mark.parametrize("kind", ["message", "status", "reaction", "claim", "member", "expiry"])
def test_a_kind_has_no_target(kind: str) -> None:
    assert parse_target(kind) is None


@pytest.mark.parametrize(
    ("part", "target"),
    [
        ("answer:1", 1),
        ("answer:007", 7),
        (f"answer:{2**63 - 1}", 2**63 - 1),
        ("free:the draft", "the draft"),
        ("free: the draft ", "the draft"),
        ("free:a:b,c", "a:b,c"),
    ],
)
def test_a_target_is_read(part: str, target: int | str) -> None:
    assert parse_target(part) == target


@pytest.mark.parametrize(
    "part",
    [
        "",
        "messages",
        "Message",
        " message",
        "expired",
        "answer",
        "free",
        "answer:",
        "answer:0",
        "answer:-1",
        "answer:1.5",
        "answer:٣",
        "answer:²",
        f"answer:{2**63}",
        f"answer:{'9' * 5000}",
        "free:",
        "free:  ",
        "free:a\nb",
        f"free:{'x' * 121}",
        "status:1",
        ":",
    ],
)
def test_what_is_no_wake_on_is_refused_and_repeated(part: str) -> None:
    with pytest.raises(ValueError, match=r"must name|is none of|the key") as fault:
        parse_target(part)
    assert repr(part) in str(fault.value)


def test_an_interest_collects_kinds_and_targets() -> None:
    asked = interest(["status", "expiry", "answer:4", "answer:7", "free:k", "status"])
    assert asked == Interest(
        types=frozenset({"status"}),
        expiry=True,
        answers=frozenset({4, 7}),
        free=frozenset({"k"}),
    )


def test_equal_interests_are_one_group() -> None:
    assert interest(["message", "claim"]) == interest(["claim", "message"])
    assert hash(interest(["message", "claim"])) == hash(interest(["claim", "message"]))


@pytest.mark.parametrize(
    ("parts", "event", "wakes"),
    [
        (["message"], MESSAGE, True),
        (["message"], ANSWER, True),
        (["message"], happens("member", "joined"), False),
        (["member"], happens("member", "joined"), True),
        (["status"], EXPIRED_STATUS, True),
        (["claim"], EXPIRED_CLAIM, True),
        (["status"], EXPIRED_CLAIM, False),
        (["expiry"], EXPIRED_STATUS, True),
        (["expiry"], EXPIRED_CLAIM, True),
        (["expiry"], happens("status", "cleared", StatusLine("x", START, START)), False),
        (["expiry"], MESSAGE, False),
        (["answer:4"], ANSWER, True),
        (["answer:5"], ANSWER, False),
        (["answer:4"], MESSAGE, False),
        (["answer:4"], happens("member", "left"), False),
        (["free:k"], EXPIRED_CLAIM, False),
    ],
)
def test_an_event_wakes_who_asked_for_it(parts: list[str], event: Event, wakes: bool) -> None:
    assert interest(parts).woken_by(event) is wakes


def test_a_key_is_free_until_it_is_claimed_and_from_the_end_of_its_lease() -> None:
    world, ada = World(), agent("ada")
    room_id = world.make_room("plan", ada)
    asked = interest(["free:k"])
    assert asked.finds_free(world.rooms[room_id], world.now)
    world.do(ClaimKey(ada, room_id, "k", lease_s=60))
    world.pass_seconds(59.999)
    assert not asked.finds_free(world.rooms[room_id], world.now)
    world.pass_seconds(0.001)
    assert asked.finds_free(world.rooms[room_id], world.now)
    world.do(EndOverdue(room_id))
    assert asked.finds_free(world.rooms[room_id], world.now)


def test_one_free_key_of_several_is_enough() -> None:
    world, ada = World(), agent("ada")
    room_id = world.make_room("plan", ada)
    world.do(ClaimKey(ada, room_id, "k", lease_s=60))
    assert interest(["free:k", "free:l"]).finds_free(world.rooms[room_id], world.now)
    assert not interest(["message"]).finds_free(world.rooms[room_id], world.now)
