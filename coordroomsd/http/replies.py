"""Answers: their headers, and the messages of ASGI that some of them are sent as."""

from __future__ import annotations

import orjson
from starlette.types import Send

from coordroomsd.domain.errors import Refusal
from coordroomsd.journal.submissions import Answer

Header = tuple[bytes, bytes]

PROBLEM = b"application/problem+json"
IS_PROBLEM: Header = (b"content-type", PROBLEM)
IS_JSON: Header = (b"content-type", b"application/json")
IS_REPLAYED: Header = (b"idempotency-replayed", b"true")


def headers_of_answer(answer: Answer) -> list[Header]:
    return [IS_JSON, IS_REPLAYED] if answer.replayed else [IS_JSON]


def headers_of_refusal(refusal: Refusal) -> list[Header]:
    """Those that its code calls for."""
    headers = [IS_PROBLEM]
    if retry := refusal.extra.get("retry_after_s"):
        headers.append((b"retry-after", str(retry).encode()))
    if allow := refusal.extra.get("allow"):
        headers.append((b"allow", str(allow).encode()))
    if refusal.code == "unauthorized":
        headers.append((b"www-authenticate", b"Bearer"))
    return headers


async def send_refusal(send: Send, refusal: Refusal) -> None:
    """A problem document."""
    body = orjson.dumps(refusal.problem())
    headers = [*headers_of_refusal(refusal), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
