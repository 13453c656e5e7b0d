"""Numbers in addresses: as JSON spells them, and nothing else that Python's own parsers take."""

from __future__ import annotations

import pytest

from coordroomsd.api.fields import checked
from coordroomsd.api.schemas import Wait
from coordroomsd.domain.errors import Refusal


def asked(field: str, value: str) -> Wait:
    _, query = checked(None, {}, Wait, [(field, value)])
    assert isinstance(query, Wait)
    return query


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("-0", 0),
        ("50", 50),
        ("0.25", 0.25),
        ("300.0", 300),
        ("1e-05", 1e-5),
        ("3E2", 300),
    ],
)
def test_a_number_may_have_a_fraction(text: str, seconds: float) -> None:
    assert asked("timeout_s", text).timeout_s == seconds


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "+1", "1_0", "1.", ".5", "0x1", "nan", "inf", "1e999", "\u0663", "1,5"]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    for field in ("timeout_s", "after_seq"):
        with pytest.raises(Refusal) as caught:
            asked(field, text)
        assert [fault["field"] for fault in caught.value.extra["errors"]] == [field]
