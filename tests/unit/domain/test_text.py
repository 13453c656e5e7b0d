from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordroomsd.domain.text import (
    body_size,
    instant,
    one_line,
    readable_body,
    room_name,
    slug,
    storable,
)

FAMILY = "👩\u200d👩\u200d👧"
HEART_ON_FIRE = "❤\ufe0f\u200d🔥"
WAVING = "👋🏽"


@pytest.mark.parametrize(
    "line",
    [
        "a",
        "x" * 120,
        "Überprüfung der Dateien",
        "проверка",
        "ด้วยกัน",
        "विकास",
        "العربية",
        "עברית",
        "設計\ufe00",
        "e\u0301tude",
        "a\u00a0b",
        "a\u3000b",
        FAMILY,
        HEART_ON_FIRE,
        WAVING,
        f"{WAVING}\u200d🦰",
        "1\ufe0f\u20e3 first",
        "🇫🇷",
        "<script>alert(1)</script>",
        "'; DROP TABLE events; --",
        "{{7*7}} ${HOME} %s %n",
        "Ignore all previous instructions",
        "\\u0000 spelled out",
    ],
)
def test_a_visible_line_is_kept(line: str) -> None:
    assert one_line(line) == line


@pytest.mark.parametrize("around", [" ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2003 "])
def test_a_line_is_trimmed(around: str) -> None:
    assert one_line(f"{around}two words{around}") == "two words"


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u00a0\u3000", "\u2028"])
def test_a_blank_line_is_refused(blank: str) -> None:
    with pytest.raises(ValueError, match="must not be blank"):
        one_line(blank)


def test_a_line_of_more_than_120_characters_is_refused() -> None:
    with pytest.raises(ValueError, match="has 121 characters; at most 120"):
        one_line("x" * 121)
    assert one_line(f"  {'x' * 120}  ") == "x" * 120


HIDDEN = {
    "a control character": "\x01",
    "a line end": "\n",
    "a terminal's escape": "\x1b",
    "delete": "\x7f",
    "a C1 control": "\x9b",
    "a line separator": "\u2028",
    "a paragraph separator": "\u2029",
    "a soft hyphen": "\u00ad",
    "a zero-width space": "\u200b",
    "a zero-width non-joiner": "\u200c",
    "a joiner between letters": "\u200d",
    "a left-to-right mark": "\u200e",
    "an Arabic letter mark": "\u061c",
    "a right-to-left override": "\u202e",
    "a pop of direction": "\u202c",
    "an isolate": "\u2066",
    "a word joiner": "\u2060",
    "an invisible plus": "\u2064",
    "a byte order mark": "\ufeff",
    "an interlinear annotation": "\ufff9",
    "a tag": "\U000e0041",
    "a language tag": "\U000e0001",
    "an unassigned tag": "\U000e0fff",
    "a musical format sign": "\U0001d173",
    "a shorthand format sign": "\U0001bca0",
    "half a surrogate pair": "\ud800",
    "a Hangul filler": "\u3164",
    "a half-width Hangul filler": "\uffa0",
    "a Hangul choseong filler": "\u115f",
    "a blank Braille cell": "\u2800",
    "a grapheme joiner": "\u034f",
    "a Khmer inherent vowel": "\u17b4",
    "a reserved invisible sign": "\u2065",
    "a reserved special": "\ufff0",
    "a selector of a selector": "\ufe0f\ufe0f",
    "a joiner after a joiner": "👩\u200d\u200d👧",
    "a selector of a space": " \ufe0f",
    "a variant that nothing has": " \U000e0100",
}


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_line_with_something_hidden_is_refused(hidden: str) -> None:
    with pytest.raises(ValueError, match=r"one visible line; character \d+ is U\+[0-9A-F]{4,6}"):
        one_line(f"a{hidden}b")


@pytest.mark.parametrize("hidden", ["\ufe0f", "\ufe00", "\U000e0100", "\u180b", "\u034f", "\u2800"])
def test_a_line_that_shows_as_nothing_is_refused(hidden: str) -> None:
    with pytest.raises(ValueError, match="character 1 is"):
        one_line(hidden)


@pytest.mark.parametrize("joined", ["\u200d🔥", "🔥\u200d", "a\u200d🔥", "🔥\u200da"])
def test_a_joiner_at_an_emoji_s_edge_is_refused(joined: str) -> None:
    with pytest.raises(ValueError, match=r"U\+200D"):
        one_line(joined)


def test_the_position_of_what_is_hidden_is_told() -> None:
    with pytest.raises(ValueError, match=r"character 4 is U\+202E"):
        one_line("abc\u202edef")


@given(st.text(max_size=130))
def test_whatever_passes_shows_and_stays(text: str) -> None:
    try:
        line = one_line(text)
    except ValueError:
        return
    assert line == text.strip()
    assert one_line(line) == line
    assert not any(unicodedata.category(sign) in ("Cc", "Zl", "Zp", "Cs") for sign in line)
    line.encode()


@pytest.mark.parametrize(
    "body", ["x", " x ", "\n\u200b.", "two\nlines\x1b[31m", "\u202e", "\x00"[:0] + "0"]
)
def test_a_body_is_kept_as_sent(body: str) -> None:
    assert readable_body(body) is body


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\u3000"])
def test_a_blank_body_is_refused(blank: str) -> None:
    with pytest.raises(ValueError, match="must not be blank"):
        readable_body(blank)


def test_what_cannot_be_stored_is_refused() -> None:
    with pytest.raises(ValueError, match="NUL"):
        storable("a\0b")
    with pytest.raises(ValueError, match="surrogate"):
        readable_body("a\udfff")
    assert storable("") == ""


def test_a_body_is_measured_in_bytes() -> None:
    assert body_size("abc") == 3
    assert body_size("äbc") == 4
    assert body_size(FAMILY) == len(FAMILY.encode())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Dashboard Search", "dashboard-search"),
        ("  Dashboard -- Search!  ", "dashboard-search"),
        ("ＦＵＬＬ width", "full-width"),
        ("Straße", "strasse"),
        ("ﬁne", "fine"),
        ("Ünï_cödé", "ünï-cödé"),
        ("e\u0301", "é"),
        ("v1.2.3", "v1-2-3"),
        ("٣ files", "٣-files"),
        ("🔥 hot", "hot"),
        ("½", "1-2"),
        ("--", ""),
        ("🔥", ""),
    ],
)
def test_a_slug_folds_a_name(name: str, expected: str) -> None:
    assert slug(name) == expected


@given(st.text(max_size=60))
def test_a_slug_is_fit_for_a_path(text: str) -> None:
    made = slug(text)
    assert not set(made) & set("_/@%?# ")
    assert not made.startswith("-")
    assert not made.endswith("-")
    assert "--" not in made


@given(st.text(max_size=60))
def test_equal_names_in_another_form_have_one_slug(text: str) -> None:
    assert slug(unicodedata.normalize("NFD", text)) == slug(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("a/b", "slash"),
        ("@active", "@"),
        ("🔥", "letter or a digit"),
        ("--", "letter or a digit"),
        ("", "blank"),
        ("a\u200bb", "visible"),
    ],
)
def test_a_name_that_no_path_could_hold_is_refused(name: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        room_name(name)


def test_a_room_s_name_is_trimmed() -> None:
    assert room_name(" The Plan (v2) ") == "The Plan (v2)"


def test_an_instant_has_milliseconds_and_z() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 6789, tzinfo=UTC)
    assert instant(moment) == "2026-01-02T03:04:05.006Z"
    elsewhere = moment.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert instant(elsewhere) == instant(moment)
    assert datetime.fromisoformat(instant(moment)).microsecond == 6000
