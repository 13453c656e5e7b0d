"""`next_cursor`: where a wait ended, in each room, as one line that an agent hands back.

It is opaque to the agent, yet plain: models copy `general:57,room_0abc:3@gen` without a fault, and
what looks like noise with some. Slugs and ids have none of the three signs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from coordroomsd.domain.errors import invalid

_ENTRY: Final = re.compile(r"([^:,@\s]+):(0|[1-9][0-9]{0,18})")


@dataclass(frozen=True, slots=True)
class Cursor:
    """`at` holds the number to wait after, by a room's slug or a thread's id."""

    at: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    generation: str | None = None

    def moved(self, at: Mapping[str, int], generation: str | None) -> Cursor:
        """This cursor after a wait that ended at `at`."""
        return Cursor({**self.at, **at}, generation)

    def __str__(self) -> str:
        entries = ",".join(f"{room}:{seq}" for room, seq in self.at.items())
        return f"{entries}@{self.generation or ''}"


def parsed(text: str) -> Cursor:
    """Raises `invalid_arguments` for what is no `next_cursor`."""
    entries, sign, generation = text.strip().rpartition("@")
    found = [_ENTRY.fullmatch(entry) for entry in entries.split(",")] if entries else []
    at = {entry[1]: int(entry[2]) for entry in found if entry}
    if not sign or len(at) != len(found):
        raise invalid("cursor", "is not the next_cursor of an earlier result")
    return Cursor(at, generation or None)
