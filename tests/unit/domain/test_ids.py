from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordroomsd.domain import ids
from coordroomsd.domain.text import slug

NOW = datetime(2026, 1, 1, tzinfo=UTC)
numbers = st.integers(min_value=0, max_value=2**63 - 1)


@given(numbers)
def test_a_room_s_id_is_read_back(number: int) -> None:
    assert ids.room_number(ids.room_id(number)) == number


@given(numbers, numbers)
def test_ids_sort_as_their_numbers(one: int, other: int) -> None:
    assert (ids.room_id(one) < ids.room_id(other)) == (one < other)


def test_an_id_is_no_slug() -> None:
    assert slug(ids.room_id(1)) != ids.room_id(1)
    assert ids.membership_id(1).startswith("member_")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "room_",
        "room",
        "plan",
        ids.membership_id(7),
        ids.room_id(7)[:-1],
        f"{ids.room_id(7)}0",
        ids.room_id(7).upper(),
        f"{ids.room_id(7)[:-1]}u",
        f"{ids.room_id(7)[:-1]}٣",
        "room_zzzzzzzzzzzzz",
        f"room_{ids.room_id(7)}",
    ],
)
def test_what_is_no_room_s_id_has_no_number(text: str) -> None:
    assert ids.room_number(text) is None


def test_numbers_rise_also_within_a_millisecond() -> None:
    new = ids.NewIds(Random(1).getrandbits)
    made = [new(NOW + timedelta(microseconds=10 * step)) for step in range(1000)]
    assert made == sorted(set(made))


def test_numbers_rise_when_the_clock_goes_back() -> None:
    new = ids.NewIds(Random(1).getrandbits)
    assert new(NOW) < new(NOW - timedelta(hours=1)) < new(NOW + timedelta(hours=1))


def test_two_daemons_do_not_make_the_same_numbers() -> None:
    one, other = ids.NewIds(Random(1).getrandbits), ids.NewIds(Random(2).getrandbits)
    assert one(NOW) != other(NOW)


def test_a_number_has_63_bits_for_a_long_time() -> None:
    new = ids.NewIds(Random(1).getrandbits)
    assert new(datetime(2300, 1, 1, tzinfo=UTC)) < 2**63
    assert new(datetime(1970, 1, 2, tzinfo=UTC)) > 0
