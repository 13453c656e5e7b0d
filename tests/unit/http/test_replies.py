from __future__ import annotations

import orjson
import pytest
from starlette.types import Message

from coordroomsd.domain.errors import CODES, Refusal
from coordroomsd.http.replies import headers_of_answer, headers_of_refusal, send_refusal
from coordroomsd.journal.submissions import Answer


def test_an_answer_is_json_and_says_when_it_is_replayed() -> None:
    assert headers_of_answer(Answer(200, b"{}")) == [(b"content-type", b"application/json")]
    assert dict(headers_of_answer(Answer(201, b"{}", replayed=True))) == {
        b"content-type": b"application/json",
        b"idempotency-replayed": b"true",
    }


@pytest.mark.parametrize("code", CODES)
def test_a_refusal_is_a_problem_and_tells_when_to_come_again(code: str) -> None:
    headers = dict(headers_of_refusal(Refusal(code, "What happened.", retry_after_s=7)))
    assert headers.pop(b"content-type") == b"application/problem+json"
    assert headers.pop(b"retry-after") == b"7"
    assert headers == ({b"www-authenticate": b"Bearer"} if code == "unauthorized" else {})


@pytest.mark.parametrize("code", ["too_many_waiters", "store_unavailable"])
def test_who_is_refused_for_now_is_always_told_when_to_come_again(code: str) -> None:
    headers = dict(headers_of_refusal(Refusal(code, "What happened.")))
    assert int(headers[b"retry-after"]) > 0


def test_a_wrong_method_is_told_the_right_ones() -> None:
    headers = dict(headers_of_refusal(Refusal("method_not_allowed", "No.", allow="GET, POST")))
    assert headers[b"allow"] == b"GET, POST"


async def test_a_refusal_is_sent_as_a_problem() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    refusal = Refusal("not_found", "Nothing is served at /ü.")
    await send_refusal(send, refusal)
    start, body = sent
    assert start["status"] == 404
    assert dict(start["headers"])[b"content-length"] == b"%d" % len(body["body"])
    assert orjson.loads(body["body"]) == refusal.problem()
