from __future__ import annotations

from typing import Any

import pytest

from coordrooms.cli.boards import board
from coordrooms.cli.texts import Style
from coordrooms.cli.vitals import Look, vitals
from coordrooms.expositions import parsed

BEFORE = """
coordrooms_build_info{version="1.2.3",python="3.11"} 1
process_start_time_seconds 1000
coordrooms_events_total{type="message"} 100
coordrooms_events_total{type="claim"} 1
coordrooms_refusals_total{code="rate_limited"} 5
coordrooms_batch_commands_count 10
coordrooms_batch_commands_sum 30
coordrooms_batch_seconds_count 10
coordrooms_batch_seconds_bucket{le="0.001"} 10
coordrooms_batch_seconds_bucket{le="0.01"} 10
coordrooms_batch_seconds_bucket{le="+Inf"} 10
"""
AFTER = """
coordrooms_build_info{version="1.2.3",python="3.11"} 1
process_start_time_seconds 1000
coordrooms_events_total{type="message"} 120
coordrooms_events_total{type="claim"} 5
coordrooms_refusals_total{code="rate_limited"} 9
coordrooms_refusals_total{code="unauthorized"} 0
coordrooms_batch_commands_count 14
coordrooms_batch_commands_sum 40
coordrooms_batch_seconds_count 14
coordrooms_batch_seconds_bucket{le="0.001"} 10
coordrooms_batch_seconds_bucket{le="0.01"} 14
coordrooms_batch_seconds_bucket{le="+Inf"} 14
coordrooms_waiters 7
coordrooms_store_up 1
coordrooms_store_free_bytes 3221225472
"""


def room(name: str, latest_seq: int, members: int = 2) -> dict[str, Any]:
    return {"id": f"room_{name}", "slug": name, "latest_seq": latest_seq, "active_members": members}


def look(at: float, text: str, rooms: list[dict[str, Any]] | None = None) -> Look:
    return Look(at, parsed(text), rooms)


def test_rates_are_of_the_time_in_between() -> None:
    found = vitals(look(10, BEFORE), look(12, AFTER))
    assert (found["interval_s"], found["version"]) == (2, "1.2.3")
    assert (found["messages_per_s"], found["other_events_per_s"]) == (10, 2)
    assert found["waits"]["parked"] == 7
    assert found["refusals"] == {"rate_limited": 4}
    # The four batches of the interval took from 1 to 10 ms; the ten before it do not count.
    assert found["journal"]["p50_ms"] == pytest.approx(5.5)
    assert found["journal"]["per_s"] == 2
    assert found["journal"]["commands_per_batch"] == 2.5
    assert found["wakes"] == {"per_s": 0, "p50_ms": None, "p99_ms": None}
    assert found["store"]["up"] is True


def test_a_daemon_that_was_restarted_has_counted_since_then() -> None:
    again = AFTER.replace("1000", "1011")
    found = vitals(look(10, BEFORE), look(20, again))
    assert found["messages_per_s"] == 12
    assert found["refusals"] == {"rate_limited": 9}


def test_the_busiest_rooms_come_first() -> None:
    before = [room("quiet", 50), room("busy", 10), room("gone", 3)]
    after = [room("quiet", 50, 9), room("busy", 30), room("new", 4)]
    found = vitals(look(0, BEFORE, before), look(2, AFTER, after))
    assert [(one["room"], one["events_per_s"]) for one in found["rooms"]] == [
        ("busy", 10),
        ("new", 2),
        ("quiet", 0),
    ]


def test_a_board_says_it_for_people() -> None:
    found = vitals(look(0, BEFORE, []), look(2, AFTER, [room("kitchen", 4)]))
    text = "\n".join(board(found, Style(coloured=False)))
    assert "10 messages/s, 2 other events/s" in text
    assert "takes writes, 3.0 GiB free" in text
    assert "5.5 ms (p99 9.9) a batch, 2 batches/s of 2.5" in text
    assert "rate_limited  4" in text
    assert "kitchen" in text


def test_a_board_of_what_is_not_known() -> None:
    text = "\n".join(board(vitals(look(0, ""), look(1, "")), Style(coloured=False)))
    assert "TAKES NO WRITES" in text
    assert "the rooms cannot be listed" in text
    assert "nothing was refused" in text


def test_nothing_that_others_named_steers_the_terminal() -> None:
    """Nor what another program says that pretends to be a daemon."""
    hostile = "\\x1b]0;owned\\x07\u202e".encode().decode("unicode_escape")
    text = AFTER.replace("1.2.3", hostile).replace("rate_limited", hostile)
    named = look(2, text, [room(hostile, 5)])
    shown = board(vitals(look(0, BEFORE, []), named), Style(coloured=False))
    assert all(line.isprintable() for line in shown), shown
