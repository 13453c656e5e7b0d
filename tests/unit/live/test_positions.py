from __future__ import annotations

from datetime import timedelta

import pytest

from coordroomsd.domain.rooms import Room
from coordroomsd.live.positions import Positions
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store.rows import Position
from tests.clocks import START

ADA, BOB = 1, 2


@pytest.fixture
def room() -> LiveRoom:
    """Ada has confirmed 3 and was shown 5; Bob is at 0."""
    state = Room(9, "default", "room", "plan", "plan", START, head=10)
    return LiveRoom(state, {ADA: Position(3, 5, START), BOB: Position(0, 0, START)})


@pytest.fixture
def positions() -> Positions:
    return Positions()


@pytest.mark.parametrize(
    ("seq", "cursor"),
    [(2, 3), (3, 3), (4, 4), (5, 5), (6, 3), (10, 3)],
    ids=["behind", "there", "ahead", "all that was shown", "past a hole", "past the hole"],
)
def test_a_wait_proves_what_was_shown(
    positions: Positions, room: LiveRoom, seq: int, cursor: int
) -> None:
    positions.prove(room, ADA, seq)
    assert room.positions[ADA] == Position(cursor, 5, START)
    assert len(positions) == (cursor != 3)


@pytest.mark.parametrize(
    ("began", "ended", "seen"),
    [(5, 8, 8), (0, 8, 8), (3, 4, 5), (5, 5, 5), (6, 8, 5)],
    ids=["from there", "from before", "nothing new", "nothing", "past a hole"],
)
def test_what_is_shown_without_a_hole_counts(
    positions: Positions, room: LiveRoom, began: int, ended: int, seen: int
) -> None:
    positions.shown(room, ADA, began, ended)
    assert room.positions[ADA] == Position(3, seen, START)
    assert len(positions) == (seen != 5)


@pytest.mark.parametrize(
    ("seq", "expected"),
    [
        (2, Position(3, 5, START)),
        (4, Position(4, 5, START)),
        (8, Position(8, 8, START)),
    ],
)
def test_confirming_goes_forward_only_and_is_urgent(
    positions: Positions, room: LiveRoom, seq: int, expected: Position
) -> None:
    assert positions.confirm(room, ADA, seq) == expected.cursor
    assert room.positions[ADA] == expected
    assert positions.take(0) == {(9, ADA): room}


def test_a_call_is_the_last_one_seen(positions: Positions, room: LiveRoom) -> None:
    later = START + timedelta(seconds=1)
    positions.called(room, ADA, later)
    positions.called(room, ADA, START)
    assert room.positions[ADA] == Position(3, 5, later)
    assert len(positions) == 1
    positions.called(room, BOB, START)
    assert len(positions) == 1


def test_positions_are_taken_once(positions: Positions, room: LiveRoom) -> None:
    positions.shown(room, ADA, 5, 8)
    positions.shown(room, BOB, 0, 8)
    taken = positions.take(1)
    assert len(taken) == 1
    taken |= positions.take(10)
    assert taken == {(9, ADA): room, (9, BOB): room}
    assert positions.take(10) == {}
    assert len(positions) == 0


def test_what_changes_while_it_is_written_is_written_again(
    positions: Positions, room: LiveRoom
) -> None:
    positions.shown(room, ADA, 5, 8)
    positions.take(10)
    positions.shown(room, ADA, 8, 9)
    assert positions.take(10) == {(9, ADA): room}


def test_what_could_not_be_written_comes_first_the_next_time(
    positions: Positions, room: LiveRoom
) -> None:
    positions.confirm(room, ADA, 4)
    taken = positions.take(10)
    positions.shown(room, BOB, 0, 8)
    positions.back(taken)
    assert positions.take(1) == {(9, ADA): room}
    assert positions.take(1) == {(9, BOB): room}


def test_changed_positions_hold_their_room(positions: Positions, room: LiveRoom) -> None:
    positions.shown(room, ADA, 5, 8)
    [held] = positions.take(1).values()
    assert held is room
