"""Answers as ASGI messages."""

from __future__ import annotations

import orjson
from starlette.types import Send

from coordroomsd.domain.errors import Refusal
from coordroomsd.journal.submissions import Answer

JSON = b"application/json"
PROBLEM = b"application/problem+json"


async def send_answer(send: Send, answer: Answer) -> None:
    headers = [(b"content-type", JSON)]
    if answer.replayed:
        headers.append((b"idempotency-replayed", b"true"))
    await send_body(send, answer.status, headers, answer.body)


async def send_refusal(send: Send, refusal: Refusal, *, close: bool = False) -> None:
    """A problem document, with the headers that its code calls for."""
    headers = [(b"content-type", PROBLEM)]
    if retry := refusal.extra.get("retry_after_s"):
        headers.append((b"retry-after", str(retry).encode()))
    if allow := refusal.extra.get("allow"):
        headers.append((b"allow", str(allow).encode()))
    if refusal.code == "unauthorized":
        headers.append((b"www-authenticate", b"Bearer"))
    if close:
        headers.append((b"connection", b"close"))
    await send_body(send, refusal.status, headers, orjson.dumps(refusal.problem()))


async def send_body(
    send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes
) -> None:
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
