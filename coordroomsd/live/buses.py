"""The bus between daemons that share a database: hints that something was written, never what.

A hint may be lost, doubled, late or out of order: whoever gets one looks into the database, and a
sweep each second looks without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, Protocol

# Who is enrolled has a version as rooms have; no room has this number.
IDENTITIES: Final = 0
# Postgres takes less than 8000 bytes; a room takes up to 40.
_MOST_IN_ONE: Final = 150


class Hint(NamedTuple):
    """From which daemon, when by its clock, and the versions of rooms."""

    sender: int
    at_ms: int
    versions: Mapping[int, int]


class Bus(Protocol):
    """Texts of less than 8000 bytes, to all daemons on one database."""

    def send(self, texts: Iterable[str]) -> None:
        """Returns at once, and promises nothing."""

    async def run(self, heard: Callable[[str], None], connected: Callable[[], None]) -> None:
        """Runs until cancelled, through losses of its connection.

        `connected` is called whenever others can be heard again: what they said before was missed.
        """


def texts(hint: Hint) -> Iterable[str]:
    """A hint as it is sent."""
    rooms = list(hint.versions.items())
    for start in range(0, len(rooms), _MOST_IN_ONE):
        some = rooms[start : start + _MOST_IN_ONE]
        versions = " ".join(f"{room}.{version}" for room, version in some)
        yield f"{hint.sender} {hint.at_ms} {versions}"


def hint_of(text: str) -> Hint | None:
    """None for what no daemon of ours has sent."""
    try:
        sender, at_ms, *rooms = text.split(" ")
        versions = {int(room): int(version) for room, version in (r.split(".") for r in rooms)}
        return Hint(int(sender), int(at_ms), versions)
    except ValueError:
        return None
