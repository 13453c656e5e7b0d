"""Reading a request: its size, its media type, its JSON."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

import orjson

from coordroomsd.domain.errors import Refusal, invalid

MAX_REQUEST_BYTES = 1024 * 1024
# What is read of a request that is too large, so that its sender gets to read the answer.
DRAINED_BYTES = 4 * MAX_REQUEST_BYTES
# No call takes more than four; far deeper, writing a body again for its hash would fail.
MAX_DEPTH = 100


class LateError(Refusal):
    """The body did not come in time; what there will be of it is not read."""

    def __init__(self, within_s: float) -> None:
        fault = invalid("", f"the request's body did not come within {within_s:g} seconds")
        super().__init__(fault.code, fault.detail, **fault.extra)


class CrowdedError(Refusal):
    """Too much has come of requests that do not end, and this one has been at it the longest."""

    def __init__(self) -> None:
        super().__init__(
            "too_many_waiters",
            "Requests that are not complete take all the room there is for them.",
            recovery="Wait for the seconds in Retry-After, then send the request again.",
        )


class LargeError(Refusal):
    """The body is too large, and was not kept."""

    def __init__(self) -> None:
        limit = f"The request is larger than {MAX_REQUEST_BYTES} bytes."
        super().__init__("payload_too_large", limit)


def parse_body(media_type: str | None, body: bytes | bytearray) -> Any:
    """The JSON of a body; None when there is none.

    Raises `unsupported_media_type`, or `invalid_arguments` for the field "".
    """
    if not body:
        return None
    if media_type != "application/json" and not _is_json(media_type):
        raise Refusal(
            "unsupported_media_type",
            f"The request's body is declared as {media_type or 'nothing'}, not as JSON.",
        )
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as fault:
        value = _lenient(body, fault)
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _is_deep(value):
        raise invalid("", f"The body is nested deeper than {MAX_DEPTH} levels")
    return value


def _is_json(media_type: str | None) -> bool:
    kind = (media_type or "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


def _lenient(body: bytes | bytearray, fault: orjson.JSONDecodeError) -> Any:
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


def query_pairs(query: bytes) -> list[tuple[str, str]]:
    text = query.decode("ascii", "replace")
    return parse_qsl(text, keep_blank_values=True) if text else []
