from __future__ import annotations

import orjson
import pytest

from coordroomsd.domain.events import Event, Message, event_wire
from coordroomsd.domain.participants import Author
from coordroomsd.live.tail import MAX_BYTES, MAX_EVENTS, Entry, Tail
from tests.clocks import START

ADA = Author(1, "ada", "ada", "agent")


def message(seq: int, body: str = "x") -> Event:
    return Event(seq, "message", None, START, ADA, False, Message("decision", body, None))


def tail_of(first: int, last: int, body: str = "x") -> Tail:
    """A tail whose head was the number before `first`, with messages up to `last`."""
    tail = Tail(first - 1)
    tail.extend(message(seq, body) for seq in range(first, last + 1))
    return tail


def numbers(entries: list[Entry] | None) -> list[int] | None:
    return None if entries is None else [entry.event.seq for entry in entries]


@pytest.mark.parametrize(
    ("after", "found"),
    [(4, None), (5, [6, 7, 8]), (6, [7, 8]), (7, [8]), (8, []), (0, None)],
)
def test_what_comes_after_a_number(after: int, found: list[int] | None) -> None:
    assert numbers(tail_of(6, 8).after(after)) == found


def test_an_empty_tail_knows_that_nothing_came_after_its_head() -> None:
    tail = Tail(5)
    assert tail.after(5) == []
    assert tail.after(4) is None
    assert tail.start == 5
    assert len(tail) == 0


def test_a_new_room_s_tail_goes_back_to_the_beginning() -> None:
    assert numbers(tail_of(1, 2).after(0)) == [1, 2]


def test_beyond_the_head_there_is_nothing() -> None:
    assert tail_of(6, 8).after(9) == []


def test_it_keeps_the_last_events() -> None:
    tail = tail_of(1, MAX_EVENTS + 10)
    assert len(tail) == MAX_EVENTS
    assert tail.start == 10
    assert tail.after(9) is None
    assert len(tail.after(10) or []) == MAX_EVENTS


def test_it_keeps_few_large_events() -> None:
    large = "x" * (MAX_BYTES // 4)
    tail = tail_of(1, 100, large)
    assert len(tail) == 3
    assert numbers(tail.after(97)) == [98, 99, 100]
    assert tail.after(96) is None


def test_one_event_above_the_bound_is_left_to_the_store() -> None:
    tail = tail_of(1, 1, "x" * MAX_BYTES)
    assert len(tail) == 0
    assert tail.after(0) is None
    assert tail.after(1) == []


def test_small_events_have_room_again_when_a_large_one_is_gone() -> None:
    tail = Tail(0)
    tail.extend([message(1, "x" * (MAX_BYTES - 1000))])
    tail.extend(message(seq) for seq in range(2, 302))
    assert len(tail) == 300
    assert tail.start == 1


def test_events_by_number() -> None:
    tail = tail_of(6, 8)
    assert tail.get(7) == message(7)
    assert [tail.get(seq) for seq in (0, 5, 9)] == [None, None, None]


@pytest.mark.parametrize("seq", [8, 10])
def test_only_the_next_event_is_taken(seq: int) -> None:
    with pytest.raises(AssertionError, match="after 8"):
        tail_of(6, 8).extend([message(seq)])


def test_what_retention_may_have_removed_is_left_to_the_store() -> None:
    tail = tail_of(6, 9)
    tail.forget_before(8)
    assert tail.start == 7
    assert numbers(tail.after(7)) == [8, 9]
    assert tail.after(6) is None
    tail.forget_before(3)
    assert tail.start == 7
    tail.forget_before(100)
    assert len(tail) == 0
    tail.extend([message(10)])
    assert numbers(tail.after(9)) == [10]


def test_an_event_is_encoded_once_however_many_are_shown_it() -> None:
    [entry] = tail_of(1, 1).after(0) or []
    assert entry.encoded is entry.encoded
    assert orjson.loads(entry.encoded) == event_wire(message(1))


def test_a_jump_leaves_what_came_before_to_the_store() -> None:
    tail = tail_of(6, 8)
    tail.jump(20)
    assert (tail.start, numbers(tail.after(19)), tail.after(20)) == (20, None, [])
    tail.extend([message(21)])
    assert numbers(tail.after(20)) == [21]
