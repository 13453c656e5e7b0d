"""Percent-encoding, by hand: importing `urllib.parse` takes longer than all else a hook needs."""

from __future__ import annotations

UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
VISIBLE_ASCII = "".join(map(chr, range(0x21, 0x7F)))

_HEADER_SAFE = frozenset(VISIBLE_ASCII.encode()) - frozenset(b"%")
_SEGMENT_SAFE = frozenset(UNRESERVED.encode() + b"@")
_QUERY_SAFE = frozenset(UNRESERVED.encode() + b"@:/,")


def header_value(text: str) -> str:
    """`text` as a header can carry it: visible ASCII as it is, everything else as `%XX`."""
    return _encoded(text, _HEADER_SAFE)


def path_segment(text: str) -> str:
    """`text` as one segment of a path; `.` and `..` are escaped too, lest they be resolved."""
    if text in (".", ".."):
        return text.replace(".", "%2E")
    return _encoded(text, _SEGMENT_SAFE)


def query_value(text: str) -> str:
    """`text` as a name or a value of a query string."""
    return _encoded(text, _QUERY_SAFE)


def _encoded(text: str, safe: frozenset[int]) -> str:
    # A lone surrogate, as an undecodable argument of a command has, goes out as the byte it was.
    data = text.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in safe else f"%{byte:02X}" for byte in data)
