from __future__ import annotations

import orjson
import pytest

from coordroomsd.api.looking import MAX_WOKEN_BY, Look, encode, look_at_tail
from coordroomsd.domain.events import Event, Message, event_wire
from coordroomsd.domain.participants import Author
from coordroomsd.domain.rooms import Room
from coordroomsd.domain.wake import interest
from coordroomsd.live.rooms import LiveRoom
from tests.clocks import START

ADA, BOB = Author(1, "ada", "ada", "agent"), Author(2, "bob", "bob", "agent")
MESSAGES = interest(["message"])


def event(seq: int, who: Author) -> Event:
    return Event(seq, "message", None, START, who, False, Message("decision", f"{seq}", None))


@pytest.fixture
def room() -> LiveRoom:
    """Its head is 30, its tail begins at 11; odd numbers are Ada's, even ones Bob's."""
    live = LiveRoom(Room(9, "default", "room", "plan", "plan", START, head=10), {})
    live.tail.extend(event(seq, ADA if seq % 2 else BOB) for seq in range(11, 31))
    live.state = Room(9, "default", "room", "plan", "plan", START, head=30)
    return live


def seen(found: Look | None) -> tuple[list[int], list[int], int, bool] | None:
    if found is None:
        return None
    numbers = [entry.event.seq for entry in found.entries]
    return numbers, found.woken_by, found.next_after_seq, found.has_more


def test_before_the_tail_the_store_has_to_be_asked(room: LiveRoom) -> None:
    assert look_at_tail(room, 9, 100, ADA.membership_id, MESSAGES) is None


def test_others_events_are_shown_to_the_head(room: LiveRoom) -> None:
    found = look_at_tail(room, 26, 100, ADA.membership_id, MESSAGES)
    assert seen(found) == ([28, 30], [28, 30], 30, False)
    found = look_at_tail(room, 26, 100, BOB.membership_id, MESSAGES)
    assert seen(found) == ([27, 29], [27, 29], 30, False)


def test_a_page_ends_at_its_last_event(room: LiveRoom) -> None:
    found = look_at_tail(room, 10, 3, ADA.membership_id, MESSAGES)
    assert seen(found) == ([12, 14, 16], [12, 14, 16, 18, 20, 22, 24, 26, 28, 30], 16, True)
    assert len(found.woken_by if found else []) == MAX_WOKEN_BY
    found = look_at_tail(room, 24, 3, ADA.membership_id, MESSAGES)
    assert seen(found) == ([26, 28, 30], [26, 28, 30], 30, False)


def test_what_does_not_wake_is_shown_all_the_same(room: LiveRoom) -> None:
    found = look_at_tail(room, 28, 100, ADA.membership_id, interest(["claim"]))
    assert seen(found) == ([30], [], 30, False)


def test_at_the_head_there_is_nothing(room: LiveRoom) -> None:
    assert seen(look_at_tail(room, 30, 100, ADA.membership_id, MESSAGES)) == ([], [], 30, False)


@pytest.mark.parametrize("reason", ["event", "timeout", "closing", None])
def test_a_look_as_json(room: LiveRoom, reason: str | None) -> None:
    found = look_at_tail(room, 27, 100, ADA.membership_id, MESSAGES)
    assert found
    answer = orjson.loads(encode(room, found, "g1", reason=reason))
    opening = {"room": "plan", "reason": reason} if reason else {}
    assert answer == {
        **opening,
        "woken_by": [28, 30] if reason in ("event", None) else [],
        "events": [event_wire(event(28, BOB)), event_wire(event(30, BOB))],
        "next_after_seq": 30,
        "latest_seq": 30,
        "has_more": False,
        "retention_gap": None,
        "generation": "g1",
    }


def test_a_gap_is_told(room: LiveRoom) -> None:
    room.state = Room(9, "default", "room", "plan", "plan", START, head=30, first_seq=25)
    found = look_at_tail(room, 20, 100, ADA.membership_id, MESSAGES)
    assert found
    answer = orjson.loads(encode(room, found, "g1", reason="event"))
    assert answer["retention_gap"] == {"from_seq": 21, "to_seq": 24}


def test_a_look_is_shared_by_all_who_have_no_events_of_their_own_in_it(room: LiveRoom) -> None:
    first = look_at_tail(room, 26, 100, 3, MESSAGES)
    assert look_at_tail(room, 26, 100, 4, MESSAGES) is first
    assert seen(look_at_tail(room, 26, 100, ADA.membership_id, MESSAGES)) == (
        [28, 30], [28, 30], 30, False,
    )  # fmt: skip
    assert seen(look_at_tail(room, 26, 100, 3, interest(["claim"]))) == (
        [27, 28, 29, 30], [], 30, False,
    )  # fmt: skip
    assert seen(look_at_tail(room, 26, 1, 3, MESSAGES)) == ([27], [27, 28, 29, 30], 27, True)
    assert seen(look_at_tail(room, 27, 100, 3, MESSAGES)) == (
        [28, 29, 30], [28, 29, 30], 30, False,
    )  # fmt: skip


def test_what_one_s_own_are_missing_from_is_not_shared(room: LiveRoom) -> None:
    look_at_tail(room, 26, 100, ADA.membership_id, MESSAGES)
    assert seen(look_at_tail(room, 26, 100, 3, MESSAGES)) == (
        [27, 28, 29, 30], [27, 28, 29, 30], 30, False,
    )  # fmt: skip


def test_a_shared_look_ends_with_the_next_event(room: LiveRoom) -> None:
    look_at_tail(room, 30, 100, 3, MESSAGES)
    room.tail.extend([event(31, ADA)])
    room.state = Room(9, "default", "room", "plan", "plan", START, head=31)
    assert seen(look_at_tail(room, 30, 100, 3, MESSAGES)) == ([31], [31], 31, False)


def test_a_shared_look_ends_with_a_removal(room: LiveRoom) -> None:
    assert look_at_tail(room, 12, 100, 3, MESSAGES)
    room.tail.forget_before(20)
    assert look_at_tail(room, 12, 100, 3, MESSAGES) is None
