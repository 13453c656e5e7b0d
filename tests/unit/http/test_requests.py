from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordroomsd.domain.errors import Refusal
from coordroomsd.http.requests import MAX_DEPTH, parse_body, query_pairs

JSON = "application/json"


def refused(code: str, media_type: str | None, body: bytes) -> Refusal:
    with pytest.raises(Refusal) as caught:
        parse_body(media_type, body)
    assert caught.value.code == code
    return caught.value


@pytest.mark.parametrize(
    "media_type",
    [JSON, "application/json; charset=utf-8", "Application/JSON", " application/json ;x=y",
     "application/merge-patch+json"],
)  # fmt: skip
def test_json_is_read(media_type: str) -> None:
    assert parse_body(media_type, b' {"a": [1, 2.5, null, "\\u00e9"]} ') == {
        "a": [1, 2.5, None, "é"]
    }


@pytest.mark.parametrize("media_type", [None, "", "text/plain", "text/json", "application/x-www"])
def test_what_is_not_declared_as_json_is_refused(media_type: str | None) -> None:
    refused("unsupported_media_type", media_type, b"{}")


def test_no_body_needs_no_declaration() -> None:
    assert parse_body(None, b"") is None


@pytest.mark.parametrize(
    "body",
    [b"{", b"{}{}", b"nothing", b"{'a': 1}", b'{"a": NaN}', b'{"a": Infinity}', b"\xff", b'"\xff"',
     b"\xef\xbb\xbf{}", b"[1,]", b"[" * 100_000, b'"\x01"'],
)  # fmt: skip
def test_what_is_no_json_is_refused(body: bytes) -> None:
    refusal = refused("invalid_arguments", JSON, body)
    [fault] = refusal.extra["errors"]
    assert fault["field"] == ""
    assert len(fault["problem"]) < 300


def test_half_a_surrogate_pair_is_left_to_the_field_s_check() -> None:
    assert parse_body(JSON, b'{"a": "\\ud800"}') == {"a": "\ud800"}


@pytest.mark.parametrize("size", [2**63, 2**64, 10**400])
def test_a_large_number_is_left_to_the_field_s_check(size: int) -> None:
    assert "n" in parse_body(JSON, b'{"n": %d}' % size)


def test_depth_is_bounded() -> None:
    def nested(depth: int) -> bytes:
        return b"[" * depth + b"]" * depth

    assert parse_body(JSON, nested(MAX_DEPTH - 1))
    refused("invalid_arguments", JSON, nested(MAX_DEPTH + 1))
    refused("invalid_arguments", JSON, b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1))


@given(st.binary(max_size=50))
def test_any_bytes_are_json_or_refused(body: bytes) -> None:
    with contextlib.suppress(Refusal):
        parse_body(JSON, body)


@pytest.mark.parametrize(
    ("query", "pairs"),
    [
        (b"", []),
        (b"a=1&b=2&a=3", [("a", "1"), ("b", "2"), ("a", "3")]),
        (b"a=", [("a", "")]),
        (b"a", [("a", "")]),
        (b"key=the+draft%21", [("key", "the draft!")]),
        (b"wake_on=free%3Aa%2Cb", [("wake_on", "free:a,b")]),
        (b"q=%C3%BC", [("q", "ü")]),
    ],
)
def test_a_query_is_pairs(query: bytes, pairs: list[tuple[str, str]]) -> None:
    assert query_pairs(query) == pairs


@given(st.binary(max_size=50))
def test_any_query_is_pairs(query: bytes) -> None:
    found: Any = query_pairs(query)
    assert all(isinstance(text, str) for pair in found for text in pair)
