"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass

BODY = "x" * 200
ROUNDS = 7


@dataclass(frozen=True, slots=True)
class Settings:
    """`small` leaves out what takes minutes to prepare."""

    rounds: int
    small: bool
