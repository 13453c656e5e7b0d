from __future__ import annotations

import asyncpg
import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.logs.lines import harmless, line_of, told
from coordroomsd.store.errors import DatabaseUnreachableError
from tests.unit.logs.records import raised, record

SECRET = "a body, or a token"


def postgres_error(kind: type[asyncpg.PostgresError], **fields: str) -> asyncpg.PostgresError:
    error = kind("first line\nDETAIL: second")
    for name, value in fields.items():
        setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    ("sign", "shown"),
    [
        ("\n", r"\n"),
        ("\r", r"\r"),
        ("\x1b", r"\x1b"),
        ("\x9b", r"\x9b"),
        ("\u202e", r"\u202e"),
        ("\u2028", r"\u2028"),
        ("\u200b", r"\u200b"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("ü", "ü"),
        ("語", "語"),
    ],
)
def test_no_sign_steers_a_terminal_or_begins_a_line(sign: str, shown: str) -> None:
    assert harmless(f"a{sign}b") == f"a{shown}b"
    line = line_of(record("refused", fields={"participant": f"a{sign}b"}))
    assert line.fields == {"participant": f"a{shown}b"}


def test_numbers_stay_numbers() -> None:
    line = line_of(record("refused", fields={"status": 429, "wait": 0.5}))
    assert line.fields == {"status": 429, "wait": 0.5}


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (KeyError(SECRET), "KeyError"),
        (asyncpg.DataError(SECRET), "DataError"),
        (Refusal("invalid_arguments", SECRET), "invalid_arguments"),
        (Refusal("store_unavailable", "It is away."), "It is away."),
        (OSError(28, "No space left on device", SECRET), "OSError: No space left on device"),
        (DatabaseUnreachableError("nobody answers"), "nobody answers"),
        (
            postgres_error(asyncpg.DiskFullError),
            "DiskFullError: first line",
        ),
        (
            postgres_error(asyncpg.CheckViolationError, constraint_name="events_pk"),
            "CheckViolationError of events_pk (23514)",
        ),
        (postgres_error(asyncpg.UntranslatableCharacterError), "UntranslatableCharacterError"),
    ],
)
def test_what_is_told_of_an_error(error: Exception, shown: str) -> None:
    assert told(error).startswith(shown)
    assert SECRET not in told(error)
    assert "second" not in told(error)
    assert line_of(record("it failed: %s", error)).message == f"it failed: {told(error)}"


def test_a_traceback_tells_places_and_types_and_no_text() -> None:
    error = raised(ValueError(SECRET))
    error.__cause__ = raised(KeyError(SECRET))
    lines = line_of(record("bug", error=error)).traceback
    assert lines[0] == "Traceback (most recent call last):"
    assert [line for line in lines if not line.startswith((" ", "Trace"))] == [
        "KeyError",
        "which led to:",
        "ValueError",
    ]
    assert any("records.py" in line and "raise error" in line for line in lines)
    assert SECRET not in "\n".join(lines)


def test_each_error_of_a_group_is_told() -> None:
    lines = line_of(record("bug", error=ExceptionGroup(SECRET, [KeyError(), OSError(5, "x")])))
    assert lines.traceback[-1] == "OSError: x"
    assert "KeyError" in lines.traceback
    assert SECRET not in "\n".join(lines.traceback)


def test_a_line_that_cannot_be_put_together_is_still_a_line() -> None:
    assert line_of(record("%s and %s", "one")).message == "%s and %s (with the wrong arguments)"
    assert len(line_of(record("x" * 100_000)).message) < 10_000
