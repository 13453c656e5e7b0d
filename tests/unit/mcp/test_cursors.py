"""The cursor that agents hand back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordroomsd.domain.errors import Refusal
from coordroomsd.mcp.cursors import Cursor, parsed

ROOMS = st.text(st.characters(categories=["Ll", "Lo", "Nd", "Mn"]), min_size=1) | st.from_regex(
    r"room_[0-9a-z]{13}", fullmatch=True
)


@given(
    st.dictionaries(ROOMS, st.integers(0, 2**63 - 1), max_size=5),
    st.none() | st.from_regex(r"[0-9a-f-]{1,36}", fullmatch=True),
)
def test_comes_back_as_it_went(at: dict[str, int], generation: str | None) -> None:
    cursor = parsed(f" {Cursor(at, generation)}\n")
    assert (cursor.at, cursor.generation) == (at, generation)


def test_is_one_plain_line() -> None:
    assert str(Cursor({"general": 57, "room_0abc": 3}, "g1")) == "general:57,room_0abc:3@g1"


@pytest.mark.parametrize(
    "text",
    ["", "57", "general:57", "general@", "a:-1@", "general:1,@g", "a:1,a:2@g", "a:01@g"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        parsed(text)
    [error] = refused.value.extra["errors"]
    assert error["field"] == "cursor"


def test_moves_and_keeps_what_did_not_move() -> None:
    moved = Cursor({"a": 1, "b": 2}, "g1").moved({"b": 5, "c": 7}, "g2")
    assert str(moved) == "a:1,b:5,c:7@g2"
