from __future__ import annotations

import json

from coordroomsd.logs.formats import JsonFormatter, TextFormatter
from tests.unit.logs.records import raised, record

FORGED = "ann\n2026-01-01T00:00:00.500Z ERROR coordroomsd: all is lost"


def test_text_for_people() -> None:
    fields = {"code": "rate_limited", "status": 429, "participant": "a b"}
    assert TextFormatter().format(record("refused %s", "post", fields=fields)) == (
        "2026-01-01T00:00:00.500Z WARNING coordroomsd.test: refused post "
        '(code=rate_limited status=429 participant="a b")'
    )


def test_nothing_in_a_record_begins_a_line() -> None:
    """Neither a name in a field, nor one in a message, nor the source in a traceback."""
    made = record("told %s", FORGED, error=raised(OSError(5, FORGED)), fields={"name": FORGED})
    text = TextFormatter().format(made)
    first, *others = text.split("\n")
    assert "all is lost" in first
    assert others
    assert all(line.startswith("    | ") for line in others)
    [line] = JsonFormatter().format(made).split("\n")
    assert json.loads(line)["name"] == FORGED.replace("\n", "\\n")


def test_json_for_programs() -> None:
    made = record("refused %s", "wait", fields={"status": 503}, error=raised(KeyError("x")))
    document = json.loads(JsonFormatter().format(made))
    assert document.pop("traceback")[-1] == "KeyError"
    assert document == {
        "at": "2026-01-01T00:00:00.500Z",
        "level": "warning",
        "logger": "coordroomsd.test",
        "message": "refused wait",
        "status": 503,
    }


def test_what_could_be_taken_for_another_field_is_quoted() -> None:
    made = record("refused", fields={"name": 'x) status=200 "'})
    assert TextFormatter().format(made).endswith('(name="x) status=200 \\"")')
