"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

BODY = "x" * 200
ROUNDS = 5
SMALL_ROUNDS = 1

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """`small` is for seeing whether the bench works: its figures say little."""

    rounds: int
    small: bool

    def size(self, whole: T, small: T) -> T:
        return small if self.small else whole
