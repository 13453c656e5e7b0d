from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from coordroomsd.domain.events import Event, Lease, Message, StatusLine
from coordroomsd.domain.log import Log
from coordroomsd.domain.participants import Author
from coordroomsd.domain.rooms import Claim, Member, Room, Status, evolve
from tests.unit.domain.worlds import START, second

AUTHORS = [Author(number, f"agent-{number}", f"agent-{number}", "agent") for number in range(1, 9)]


def room_with(statuses: dict[int, int], claims: dict[str, tuple[int, int]]) -> Room:
    """A room at head 20; statuses by membership and claims by key, with the second of their end."""
    members = {a.membership_id: Member(a, a.membership_id, True, START) for a in AUTHORS}
    empty = Room(1, "default", "room", "plan", "plan", START, head=20)
    return empty.with_everything(
        members,
        {who: Status(f"status {who}", START, second(end)) for who, end in statuses.items()},
        {
            key: Claim(key, AUTHORS[who - 1], START, second(end), fence, None)
            for fence, (key, (who, end)) in enumerate(claims.items(), 1)
        },
    )


def test_nothing_is_appended_while_nothing_is_overdue() -> None:
    room = room_with({1: 10}, {"k": (2, 10)})
    log = Log(room, second(9))
    assert log.events == []
    assert log.room is room


def test_what_is_overdue_ends_first_and_in_its_order() -> None:
    room = room_with({1: 5, 2: 3, 3: 11}, {"late": (1, 4), "early": (2, 1), "held": (3, 11)})
    log = Log(room, second(10))
    assert [(event.seq, event.type, event.reason) for event in log.events] == [
        (21, "claim", "expired"),
        (22, "status", "expired"),
        (23, "claim", "expired"),
        (24, "status", "expired"),
    ]
    assert all(event.by_daemon and event.at == second(10) for event in log.events)
    assert log.events[0].payload == Lease("early", 2, second(1), None)
    assert log.events[1].payload == StatusLine("status 2", START, second(3))
    assert log.events[1].who is AUTHORS[1]
    assert log.room.head == 24
    assert set(log.room.statuses) == {3}
    assert set(log.room.claims) == {"held"}
    assert log.room.next_deadline == second(11)


def test_the_moment_of_the_end_is_over() -> None:
    assert len(Log(room_with({1: 10}, {}), second(10)).events) == 1


ends = st.integers(min_value=0, max_value=20)


@given(
    st.dictionaries(st.integers(min_value=1, max_value=8), ends),
    st.dictionaries(
        st.sampled_from("abcdefgh"), st.tuples(st.integers(min_value=1, max_value=8), ends)
    ),
)
def test_ending_all_at_once_is_the_fold_of_ending_one_by_one(
    statuses: dict[int, int], claims: dict[str, tuple[int, int]]
) -> None:
    room = room_with(statuses, claims)
    log = Log(room, second(10))
    folded = room
    for event in log.events:
        folded = evolve(folded, event)
    assert folded == log.room
    over = [end for end in statuses.values() if end <= 10]
    over += [end for _, end in claims.values() if end <= 10]
    assert len(log.events) == len(over)


def test_an_event_is_numbered_dated_and_folded_in() -> None:
    log = Log(room_with({}, {}), second(1))
    first = log.append("message", None, AUTHORS[0], Message("decision", "x", None))
    second_one = log.append("message", None, AUTHORS[1], Message("decision", "y", None))
    assert (first.seq, second_one.seq, log.room.head) == (21, 22, 22)
    assert first == Event(
        21, "message", None, second(1), AUTHORS[0], False, Message("decision", "x", None)
    )


def test_a_newcomer_is_introduced_before_it_joins() -> None:
    author = Author(99, "new", "new", "agent")
    log = Log(room_with({}, {}), START)
    log.introduce(Member(author, 99, False, START))
    assert not log.room.memberships[99].active
    log.append("member", "joined", author)
    assert log.room.memberships[99].active
    assert log.room.members[99] == replace(log.room.memberships[99])


def test_ends_tell_what_ended() -> None:
    room = room_with({1: 10}, {"k": (2, 10)})
    log = Log(room, START)
    cleared = log.end_status(AUTHORS[0], room.statuses[1], "cleared")
    released = log.end_claim(room.claims["k"], "released")
    assert cleared.payload == StatusLine("status 1", START, second(10))
    assert not cleared.by_daemon
    assert released.payload == Lease("k", 1, second(10), None)
    assert released.who is AUTHORS[1]
    assert not log.room.statuses
    assert not log.room.claims
    assert log.room.next_deadline is None
