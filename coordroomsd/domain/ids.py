"""Identifiers: 63-bit numbers inside, `room_…` and `member_…` on the wire.

A number begins with the millisecond it was made in, so that ids sort by age and an index grows at
its end.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no i, l, o, u
_VALUE = {sign: value for value, sign in enumerate(_ALPHABET)}
_LENGTH = 13  # 13 digits of 5 bits hold 63 bits
_RANDOM_BITS = 20
_EPOCH_MS = 1_750_000_000_000  # June 2025; leaves 43 bits, or 278 years, for the milliseconds


class NewIds:
    """Numbers that rise: what was made later has the higher one, also within a millisecond."""

    def __init__(self, random_bits: Callable[[int], int]) -> None:
        self._random_bits = random_bits
        self._last = 0

    def __call__(self, now: datetime) -> int:
        """A number for something made at `now`."""
        age_ms = max(0, int(now.timestamp() * 1000) - _EPOCH_MS)
        number = (age_ms << _RANDOM_BITS) | self._random_bits(_RANDOM_BITS)
        self._last = max(number, self._last + 1)
        return self._last


def room_id(number: int) -> str:
    return _written("room", number)


def membership_id(number: int) -> str:
    return _written("member", number)


def room_number(text: str) -> int | None:
    """The number of a room's id; None when `text` is no such id."""
    return _read("room", text)


# Those in use are written again and again.
@functools.lru_cache(maxsize=16_384)
def _written(prefix: str, number: int) -> str:
    digits = (_ALPHABET[(number >> shift) & 31] for shift in range(5 * (_LENGTH - 1), -1, -5))
    return f"{prefix}_{''.join(digits)}"


def _read(prefix: str, text: str) -> int | None:
    head, _, digits = text.partition("_")
    if head != prefix or len(digits) != _LENGTH:
        return None
    number = 0
    for digit in digits:
        value = _VALUE.get(digit)
        if value is None:
            return None
        number = number << 5 | value
    return number if number < 1 << 63 else None
