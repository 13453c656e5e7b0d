from __future__ import annotations

import logging

import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.logs.troubles import Trouble
from coordroomsd.store.errors import NoSpaceError

logger = logging.getLogger("coordroomsd.a_test")


@pytest.fixture
def trouble(caplog: pytest.LogCaptureFixture) -> Trouble:
    caplog.set_level(logging.INFO, logger.name)
    return Trouble(logger, "read the book")


def attempt(trouble: Trouble, error: Exception | None) -> None:
    with trouble.told():
        if error:
            raise error


def test_the_same_again_is_told_once_and_so_is_its_end(
    trouble: Trouble, caplog: pytest.LogCaptureFixture
) -> None:
    for free in (3, 2, 1):
        attempt(trouble, NoSpaceError(f"only {free} MiB are free"))
    attempt(trouble, None)
    attempt(trouble, None)
    attempt(trouble, NoSpaceError("only 5 MiB are free"))
    assert caplog.messages == [
        "could not read the book: only 3 MiB are free",
        "can read the book again",
        "could not read the book: only 5 MiB are free",
    ]


def test_what_fails_otherwise_is_told(trouble: Trouble, caplog: pytest.LogCaptureFixture) -> None:
    attempt(trouble, NoSpaceError("no space"))
    attempt(trouble, Refusal("store_unavailable", "The database is away."))
    attempt(trouble, Refusal("internal_error", "The daemon failed."))
    trouble.failed("nobody is there")
    trouble.failed("nobody is there")
    assert len(caplog.messages) == 4


def test_of_a_bug_the_places_are_told(trouble: Trouble, caplog: pytest.LogCaptureFixture) -> None:
    attempt(trouble, NoSpaceError("no space"))
    attempt(trouble, ConnectionResetError())
    attempt(trouble, ZeroDivisionError("sesame"))
    assert [record.exc_info is not None for record in caplog.records] == [False, False, True]
    assert "sesame" not in caplog.messages[-1]
