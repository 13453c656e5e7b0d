"""Reading a request: its size, its media type, its JSON, and a caller that goes away."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from coordroomsd.domain.errors import Refusal, invalid

MAX_REQUEST_BYTES = 1024 * 1024
# What is read of a request that is too large, so that its sender gets to read the answer.
_DRAINED_BYTES = 4 * MAX_REQUEST_BYTES
# No call takes more than four; far deeper, writing a body again for its hash would fail.
MAX_DEPTH = 100
# A body that trickles in for longer is given up; a wait has none.
BODY_WITHIN_S = 30.0


class LateError(Refusal):
    """The body did not come in time; what there will be of it is not read."""

    def __init__(self) -> None:
        fault = invalid("", f"the request's body did not come within {BODY_WITHIN_S:.0f} seconds")
        super().__init__(fault.code, fault.detail, **fault.extra)


class GoneError(Exception):
    """The caller has closed the connection; there is nobody to answer."""


async def read_body(headers: Headers, receive: Receive) -> bytes:
    """The whole body. Raises `payload_too_large` over 1 MiB, LateError and GoneError."""
    declared = headers.get("content-length", "0")
    too_large = declared.isdigit() and int(declared) > MAX_REQUEST_BYTES
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise GoneError
                chunk = message.get("body", b"")
                size += len(chunk)
                if size > MAX_REQUEST_BYTES:
                    too_large = True
                if not too_large:
                    chunks.append(chunk)
                if not message.get("more_body") or size > _DRAINED_BYTES:
                    break
    except TimeoutError:
        raise LateError from None
    if too_large:
        raise Refusal("payload_too_large", f"The request is larger than {MAX_REQUEST_BYTES} bytes.")
    return b"".join(chunks)


def parse_body(headers: Headers, body: bytes) -> Any:
    """The JSON of a body; None when there is none.

    Raises `unsupported_media_type`, or `invalid_arguments` for the field "".
    """
    if not body:
        return None
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise Refusal(
            "unsupported_media_type",
            f"The request's body is declared as {media_type or 'nothing'}, not as JSON.",
        )
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as fault:
        value = _lenient(body, fault)
    if _is_deep(value):
        raise invalid("", f"The body is nested deeper than {MAX_DEPTH} levels")
    return value


def _lenient(body: bytes, fault: orjson.JSONDecodeError) -> Any:
    """As the standard library has it, with half surrogate pairs, which a field's check names."""
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise invalid("", f"The body is no JSON: {str(fault)[:200]}") from None


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def query_pairs(scope: Scope) -> list[tuple[str, str]]:
    text = scope["query_string"].decode("ascii", "replace")
    return parse_qsl(text, keep_blank_values=True) if text else []


@contextlib.asynccontextmanager
async def while_connected(receive: Receive) -> AsyncIterator[None]:
    """Cancels what it surrounds when the caller goes away, and raises GoneError then."""
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("needs a task to cancel")
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        task.cancel()

    watcher = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if not gone:
            raise
        task.uncancel()
        raise GoneError from None
    finally:
        watcher.cancel()
