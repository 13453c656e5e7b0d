from __future__ import annotations

import pytest

from coordroomsd.domain.events import Event, EventType, Lease, Message, Reaction, StatusLine
from coordroomsd.domain.participants import Author
from coordroomsd.domain.rooms import Claim, Member, Room, Status, evolve
from tests.unit.domain.worlds import START, second

ADA = Author(1, "ada", "ada", "agent")
BOB = Author(2, "bob", "bob", "agent")


def room() -> Room:
    empty = Room(5, "default", "room", "plan", "plan", START)
    return empty.with_member(Member(ADA, 11, False, START)).with_member(
        Member(BOB, 12, False, START)
    )


def folded(*events: Event) -> Room:
    state = room()
    for event in events:
        state = evolve(state, event)
    return state


def joined(seq: int, who: Author = ADA) -> Event:
    return Event(seq, "member", "joined", second(seq), who, False, None)


def test_members_are_found_by_participant_and_by_membership() -> None:
    state = folded(joined(1), joined(2, BOB), Event(3, "member", "left", START, ADA, False, None))
    assert state.head == 3
    assert state.members[11] is state.memberships[1]
    assert not state.members[11].active
    assert state.members[12].active


def test_a_status_is_held_until_it_ends_or_another_is_set() -> None:
    reading = StatusLine("reading", second(2), second(10))
    writing = StatusLine("writing", second(3), second(20))
    state = folded(joined(1), Event(2, "status", "set", second(2), ADA, False, reading))
    assert state.statuses[1] == Status("reading", second(2), second(10))
    assert state.next_deadline == second(10)
    state = evolve(state, Event(3, "status", "set", second(3), ADA, False, writing))
    assert state.statuses[1].status == "writing"
    assert state.next_deadline == second(20)
    for reason in ("cleared", "expired", "left"):
        ended = evolve(state, Event(4, "status", reason, second(4), ADA, False, writing))
        assert not ended.statuses
        assert ended.next_deadline is None


def test_a_claim_keeps_holder_fence_and_since_when_it_is_renewed() -> None:
    state = folded(
        joined(1),
        Event(2, "claim", "claimed", second(2), ADA, False, Lease("k", 2, second(60), None)),
        Event(3, "claim", "renewed", second(3), ADA, False, Lease("k", 2, second(90), 1)),
    )
    assert state.claims["k"] == Claim("k", ADA, second(2), second(90), 2, 1)
    assert state.next_deadline == second(90)
    for reason in ("released", "expired", "left"):
        lease = Lease("k", 2, second(90), 1)
        assert not evolve(state, Event(4, "claim", reason, second(4), ADA, False, lease)).claims


def test_the_next_deadline_is_the_earliest_of_all() -> None:
    state = folded(
        joined(1),
        joined(2, BOB),
        Event(3, "claim", "claimed", START, ADA, False, Lease("k", 3, second(60), None)),
        Event(4, "status", "set", START, BOB, False, StatusLine("x", START, second(30))),
        Event(5, "claim", "claimed", START, BOB, False, Lease("l", 5, second(40), None)),
    )
    assert state.next_deadline == second(30)
    assert state.without_overdue(second(45), head=7).next_deadline == second(60)


@pytest.mark.parametrize(
    "payload", [Message("decision", "x", None), Reaction(1, "ack")], ids=["message", "reaction"]
)
def test_messages_and_reactions_leave_the_state_but_for_its_head(
    payload: Message | Reaction,
) -> None:
    before = folded(joined(1))
    event_type: EventType = "message" if isinstance(payload, Message) else "reaction"
    after = evolve(before, Event(2, event_type, "added", START, ADA, False, payload))
    assert after.head == 2
    assert after.members == before.members


def test_a_state_that_somebody_holds_does_not_change() -> None:
    held = folded(joined(1))
    evolve(held, Event(2, "status", "set", START, ADA, False, StatusLine("x", START, second(1))))
    evolve(held, Event(2, "member", "left", START, ADA, False, None))
    assert held.head == 1
    assert not held.statuses
    assert held.memberships[1].active


@pytest.mark.parametrize("seq", [1, 3])
def test_only_the_next_event_folds_in(seq: int) -> None:
    with pytest.raises(AssertionError, match="after 1"):
        evolve(folded(joined(1)), joined(seq, BOB))


def test_before_any_event_a_room_has_nobody() -> None:
    state = folded(joined(1), joined(2, BOB))
    assert state.before_any_event() == Room(5, "default", "room", "plan", "plan", START)
