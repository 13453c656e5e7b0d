"""What a terminal is shown: harmless, aligned, coloured only where that is wanted."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordrooms.cli.events import event_lines
from coordrooms.cli.rosters import HEADS, roster
from coordrooms.cli.texts import Style, clock_time, cut, padded, safe, span, table, width
from coordrooms.events import RetentionGap, event
from coordrooms.models import Member
from tests.unit.client import documents
from tests.unit.client.documents import ANN, AT, BOB

PLAIN, COLOURED = Style(coloured=False), Style(coloured=True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, grüß, 日本, שלום", "plain, grüß, 日本, שלום"),
        ("\x1b[2J\x07", r"\x1b[2J\x07"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("two\nlines\ttab", r"two\nlines\ttab"),
        ("back\rward \x9b1m \x7f", r"back\rward \x9b1m \x7f"),
        ("line\u2028paragraph\u2029", r"line\u2028paragraph\u2029"),
        ("hidden\U000e0041", r"hidden\U000e0041"),
        ("half \ud800", r"half \ud800"),
        ("👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم"),
    ],
)
def test_what_others_wrote_is_made_harmless(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_line_ends_and_tabs_may_stay() -> None:
    assert safe("two\nlines\ttab\r", lines=True) == "two\nlines\ttab\\r"


@given(st.text())
def test_nothing_harmful_is_left(text: str) -> None:
    harmful = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    left = set(safe(text, lines=True)) - set("\n\t\u200c\u200d")
    assert [c for c in left if unicodedata.category(c) in harmful] == []


def test_columns() -> None:
    assert (width("abc"), width("日本"), width("e\u0301"), width("a\u200db")) == (3, 4, 1, 2)
    assert padded("日本", 6) == "日本  "
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert cut("日本日本", 6) == "日本…"


def test_colours_take_no_column_and_end_where_a_line_is_cut() -> None:
    green = COLOURED.good("abcdef")
    assert width(green) == 6
    assert cut(green, 6) == green
    assert cut(f"{green}ghi", 4) == "\x1b[32mabc\x1b[0m…"


@pytest.mark.parametrize("kind", ["question", "warning", "answer", "decision", "status", "new"])
def test_a_kind_is_told_by_its_word_and_by_its_colour(kind: str) -> None:
    shown = [
        event_lines(event(documents.message(5, "body", kind=kind)), style)
        for style in (PLAIN, COLOURED)
    ]
    assert kind in shown[0]
    assert COLOURED.kind(kind, kind.ljust(9)) in shown[1]
    assert re.sub(r"\x1b\[\d+m", "", shown[1]) == shown[0]


@given(st.text(max_size=20), st.integers(1, 20))
def test_what_was_cut_fits(text: str, columns: int) -> None:
    assert width(cut(text, columns)) <= columns


def test_a_table_is_aligned_and_has_no_blank_ends() -> None:
    assert table(["A", "BB", "C"], [["xxx", "y", "z"], ["日", "", "long as it likes"]]) == [
        "A    BB  C",
        "xxx  y   z",
        "日       long as it likes",
    ]


def test_colours_are_only_where_they_are_wanted() -> None:
    assert PLAIN.bold("x") == PLAIN.name("ann", "x") == "x"
    assert COLOURED.bold("x") == "\x1b[1mx\x1b[0m"
    assert COLOURED.name("ann", "x") == COLOURED.name("ann", "x")


def test_times() -> None:
    now = datetime.now(UTC)
    assert len(clock_time(now)) == len("12:34:56")
    assert len(clock_time(now - timedelta(days=3))) == len("2026-01-02 12:34:56")
    lengths = (-1, 0.9, 59, 60, 3599, 3600, 86_400 * 2.5)
    assert [span(seconds) for seconds in lengths] == ["0s", "0s", "59s", "1m", "59m", "1h", "2d"]


def line(**data: object) -> str:
    """An event as it is shown, after its number and time."""
    common = {"seq": 5, "at": AT, "author": BOB, "reason": None}
    return event_lines(event({**common, **data}), PLAIN).strip().split("  ", 2)[2]


def test_messages_as_lines() -> None:
    shown = event_lines(event(documents.message(5, "one\ntwo\n", kind="answer", reply_to=4)), PLAIN)
    first, second = shown.split("\n")
    assert first.startswith("    5  ")
    assert first.endswith("bob               answer →4  one")
    assert second == "       two"


def test_a_message_cannot_draw_on_the_terminal() -> None:
    evil = documents.message(5, "\x1b[31mred\x1b[0m", author={**BOB, "name": "bob\x1b[2J"})
    assert "\x1b" not in event_lines(event(evil), PLAIN)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"type": "member", "reason": "joined"}, "bob               joined the room"),
        (
            {"type": "status", "reason": "expired", "status": "away", "author": None}
            | {"participant": ANN},
            "ann               is no longer 'away' (expired)",
        ),
        (
            {"type": "reaction", "reason": "added", "reaction": "ack", "message_id": 4},
            "bob               ack to 4",
        ),
        (
            {"type": "reaction", "reason": "removed", "reaction": "ack", "message_id": 4},
            "bob               took back ack to 4",
        ),
        (
            {"type": "claim", "reason": "released", "key": "k", "fence": 3},
            "bob               released 'k' (fence 3)",
        ),
        ({"type": "poll", "reason": "opened"}, "bob               poll opened"),
    ],
)
def test_other_events_as_lines(data: dict[str, object], shown: str) -> None:
    assert line(**data) == shown


def test_statuses_and_claims_tell_their_end() -> None:
    assert line(type="status", reason="set", status="reading", expires_at=AT).endswith(")")
    claimed = line(type="claim", reason="claimed", key="k", fence=5, expires_at=AT)
    assert "claimed 'k' until " in claimed


def test_a_gap_as_a_line() -> None:
    assert "events 2 to 4 were removed" in event_lines(RetentionGap(from_seq=2, to_seq=4), PLAIN)


def test_who_is_in_a_room() -> None:
    now = datetime.now(UTC)
    status = {
        "status": "reading",
        "since": (now - timedelta(seconds=90)).isoformat(),
        "expires_at": (now + timedelta(seconds=200)).isoformat(),
    }
    called = (now - timedelta(hours=2, minutes=5)).isoformat()
    members = [
        documents.member(state="inactive", last_seen_at=None),
        documents.member(**BOB, status=status, waiting=True, last_seen_at=called, wake="push"),
    ]
    known = [Member.from_json(member) for member in members]
    rows = roster(known, PLAIN)
    assert len(rows[0]) == len(HEADS)
    assert rows == [
        ["bob", "human", "waiting", "3", "2h ago", "push", "reading (for 1m, 3m left)"],
        ["ann", "agent", "inactive", "3", "–", "none", ""],
    ]
    # In colours the columns are as wide, and the words are the same.
    coloured = table(HEADS, roster(known, COLOURED))
    assert "\x1b[" in "".join(coloured)
    assert [re.sub(r"\x1b\[\d+m", "", line) for line in coloured] == table(HEADS, rows)
