from __future__ import annotations

import logging

import pytest

from coordroomsd.domain.errors import CODES, Refusal
from coordroomsd.live.metrics import Metrics
from coordroomsd.live.refusals import OF_NOTE, Refusals

BODY = "what somebody wrote"


@pytest.fixture
def refusals() -> Refusals:
    return Refusals(Metrics())


def test_codes_are_those_that_there_are() -> None:
    assert set(CODES) > OF_NOTE


@pytest.mark.parametrize(
    ("code", "level"), [("rate_limited", logging.WARNING), ("claim_conflict", logging.DEBUG)]
)
def test_one_line_for_a_refusal_of_note_and_none_for_an_everyday_one(
    refusals: Refusals, caplog: pytest.LogCaptureFixture, code: str, level: int
) -> None:
    with caplog.at_level(logging.INFO, "coordroomsd"):
        refusals.note(Refusal(code, BODY), "postMessages", "uid 1000", "ann")
    assert len(caplog.records) == (level == logging.WARNING)
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "coordroomsd"):
        refusals.note(Refusal(code, BODY), "postMessages", "uid 1000", "ann")
    [record] = caplog.records
    assert (record.levelno, record.getMessage()) == (level, f"refused postMessages: {code}")
    assert vars(record)["fields"] == {
        "code": code,
        "status": CODES[code].status,
        "call": "postMessages",
        "origin": "uid 1000",
        "participant": "ann",
    }
    assert BODY not in str(vars(record))
