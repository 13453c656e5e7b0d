from __future__ import annotations

import logging

from coordroomsd.logs.lines import line_of
from coordroomsd.logs.repeats import SHOWN, Repeats
from tests.unit.logs.records import raised, record


def told(repeats: Repeats) -> list[str]:
    return [line_of(one).message for one in repeats.report()]


def test_the_first_ones_pass_and_the_others_are_counted() -> None:
    repeats = Repeats()
    passed = [repeats.filter(record("away: %s", number)) for number in range(1000)]
    assert passed == [True] * SHOWN + [False] * (1000 - SHOWN)
    assert repeats.filter(record("something else"))
    assert told(repeats) == [f"{1000 - SHOWN} more in 10 s like: away: 999"]
    assert repeats.filter(record("away: %s", 0))
    assert told(repeats) == []


def test_levels_and_what_is_said_to_be_alike() -> None:
    repeats = Repeats()
    for number in range(SHOWN):
        assert repeats.filter(record(f"refused {number}", like=("rate_limited", "uid 1")))
    assert not repeats.filter(record("refused again", like=("rate_limited", "uid 1")))
    assert repeats.filter(record("refused", like=("rate_limited", "uid 2")))
    assert repeats.filter(record("refused", like=("rate_limited", "uid 1"), level=logging.ERROR))
    [line] = repeats.report()
    assert line_of(line).fields == {"more": 1}


def test_an_error_that_was_told_by_its_id_is_found_by_it() -> None:
    repeats = Repeats()
    errors = []
    for number in range(20):
        made = record("internal error", error=raised(KeyError()), fields={"error_id": number})
        assert repeats.filter(made)
        errors.append(made)
    assert [bool(line_of(one).traceback) for one in errors] == [True] * SHOWN + [False] * 15
    assert told(repeats) == []


def test_endlessly_many_different_ones_are_one() -> None:
    repeats = Repeats()
    passed = sum(repeats.filter(record("refused", like=number)) for number in range(100_000))
    assert passed < 600
    assert len(repeats.report()) == 1
