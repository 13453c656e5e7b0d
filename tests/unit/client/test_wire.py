"""Bytes to requests and answers, however they are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordrooms.wire import ResponseReader, TruncatedError, WireError, request_bytes

COUNTED = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\nX-Y:  z \r\n\r\nhello world"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n6;note=x\r\n world\r\n0\r\nTrailer: t\r\n\r\n"
)
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n" + COUNTED
UNTIL_CLOSED = b"HTTP/1.1 200 OK\r\n\r\nhello world"


def read(data: bytes, cuts: set[int], *, then_closed: bool = False) -> tuple[ResponseReader, bytes]:
    """Feed `data` cut at these places; the reader and the body it gave bit by bit."""
    reader, body, last = ResponseReader(), b"", 0
    for cut in [*sorted(cuts), len(data)]:
        if data[last:cut]:
            reader.feed(data[last:cut])
            body += reader.take()
        last = cut
    if then_closed:
        reader.feed(b"")
    return reader, body


@pytest.mark.parametrize("answer", [COUNTED, CHUNKED, INTERIM])
@given(st.data())
def test_an_answer_is_the_same_however_it_is_cut(answer: bytes, data: st.DataObject) -> None:
    cuts = data.draw(st.sets(st.integers(1, len(answer) - 1)))
    reader, body = read(answer, cuts)
    assert (reader.status, body, reader.done, reader.reusable) == (200, b"hello world", True, True)


@pytest.mark.parametrize("answer", [COUNTED, CHUNKED, INTERIM])
def test_an_answer_byte_by_byte(answer: bytes) -> None:
    reader, body = read(answer, set(range(len(answer))))
    assert (body, reader.done, reader.reusable) == (b"hello world", True, True)


def test_headers_have_lower_case_names_and_trimmed_values() -> None:
    reader, _ = read(COUNTED, set())
    assert reader.headers == {"content-length": "11", "x-y": "z"}


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    reader, body = read(UNTIL_CLOSED, {40})
    assert (body, reader.done) == (b"hello world", False)
    reader.feed(b"")
    assert (reader.done, reader.reusable) == (True, False)


@pytest.mark.parametrize("status", [204, 304])
def test_some_answers_have_no_body(status: int) -> None:
    reader, body = read(f"HTTP/1.1 {status} X\r\n\r\n".encode(), set())
    assert (body, reader.done, reader.reusable) == (b"", True, True)


def test_an_empty_body_is_whole_with_its_head() -> None:
    reader, _ = read(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", set())
    assert reader.done


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n",
    ],
    ids=["old", "told so", "more than was asked for"],
)
def test_connections_that_carry_no_second_request(answer: bytes) -> None:
    reader, _ = read(answer, set())
    assert (reader.done, reader.reusable) == (True, False)


@pytest.mark.parametrize("answer", [COUNTED, CHUNKED])
def test_an_answer_that_breaks_off_is_no_answer(answer: bytes) -> None:
    for end in range(len(answer)):
        with pytest.raises(TruncatedError):
            read(answer[:end], set(), then_closed=True)


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nSpaced : x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \u00b2\r\n\r\n".encode("latin-1"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n",
        b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 70_000,
    ],
)
def test_what_is_not_http_is_refused(answer: bytes) -> None:
    with pytest.raises(WireError):
        read(answer, set())


def test_a_request_with_a_body() -> None:
    assert request_bytes("POST", "/x?y=1", [("Host", "h")], b"{}") == (
        b"POST /x?y=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
    )


def test_a_request_without_a_body() -> None:
    assert request_bytes("GET", "/x", [("Host", "h")], None) == (
        b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
    )
    assert b"Content-Length: 0\r\n" in request_bytes("POST", "/x", [], None)
