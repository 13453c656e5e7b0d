from __future__ import annotations

import pytest

from tests.bench import wires


def answer(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body)


def test_a_reply_is_cut_where_it_ends_however_it_comes() -> None:
    received = answer(201, b'{"latest_seq":7}')
    replies = wires.Replies()
    for place in range(len(received) - 1):
        assert replies.add(received[place : place + 1]) is None
    reply = replies.add(received[-1:])
    assert reply == wires.Reply(201, b'{"latest_seq":7}')
    assert replies.add(answer(200, b"{}")) == wires.Reply(200, b"{}")


def test_another_status_than_the_load_counts_on_ends_it_with_what_the_daemon_said() -> None:
    reply = wires.Reply(429, b'{"code":"rate_limited"}')
    with pytest.raises(wires.UnexpectedError, match=r"429 and not 201.*rate_limited"):
        reply.expect(201)


def test_a_request_says_how_long_its_body_is() -> None:
    sent = wires.request("POST", "/rooms/a/messages", "agent-1", {"messages": []}, key="k")
    head, _, body = sent.partition(b"\r\n\r\n")
    assert body == b'{"messages":[]}'
    assert head.splitlines() == [
        b"POST /api/v1/rooms/a/messages HTTP/1.1",
        b"Host: localhost",
        b"Coordrooms-Conversation: agent-1",
        b"Idempotency-Key: k",
        b"Content-Type: application/json",
        b"Content-Length: 15",
    ]
