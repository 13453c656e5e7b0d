"""What ends a wait: kinds of event, answers to one message, a claim that nobody holds.

`Interest.woken_by` and the query `wakers` (store/queries.sql) have to agree.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from coordroomsd.domain.events import Event, Message
from coordroomsd.domain.rooms import Room
from coordroomsd.domain.text import one_line

KINDS = ("message", "status", "reaction", "claim", "member", "expiry")
_TYPES = frozenset(KINDS) - {"expiry"}
_MAX_SEQ = 2**63 - 1
_MAX_DIGITS = len(str(_MAX_SEQ))


@dataclass(frozen=True, slots=True)
class Interest:
    """What a waiter asked for; equal interests are equal values, so waiters can be grouped."""

    types: frozenset[str] = frozenset({"message"})
    # Anything that ran out.
    expiry: bool = False
    # Messages a reply to which wakes.
    answers: frozenset[int] = frozenset()
    # Claims that wake while nobody holds them: a state and not an event.
    free: frozenset[str] = frozenset()

    def woken_by(self, event: Event) -> bool:
        """Whether this event, being another's, ends the wait."""
        if event.type in self.types or (self.expiry and event.reason == "expired"):
            return True
        if not self.answers:
            return False
        return isinstance(event.payload, Message) and event.payload.reply_to in self.answers

    def finds_free(self, room: Room, now: datetime) -> bool:
        """Whether one of the claims it waits for is held by nobody."""
        return any(
            key not in room.claims or room.claims[key].expires_at <= now for key in self.free
        )


def split_wake_on(values: list[str]) -> list[str]:
    """The parts of a repeated or comma-separated argument; a value with `:` is never split."""
    return [part for value in values for part in ([value] if ":" in value else value.split(","))]


def parse_target(part: str) -> int | str | None:
    """A message number for `answer:…`, a key for `free:…`, None for a plain kind.

    Raises ValueError with the reason.
    """
    kind, colon, target = part.partition(":")
    if not colon:
        if part not in KINDS:
            raise ValueError(f"{part!r} is none of {', '.join(KINDS)}, answer:<id>, free:<key>")
        return None
    match kind:
        case "answer":
            digits = target.isascii() and target.isdigit() and len(target) <= _MAX_DIGITS
            if not digits or not 0 < int(target) <= _MAX_SEQ:
                raise ValueError(f"{part!r} must name a message by its number")
            return int(target)
        case "free":
            try:
                return one_line(target)
            except ValueError as fault:
                raise ValueError(f"{part!r}: the key {fault}") from None
        case _:
            raise ValueError(f"{part!r} is none of {', '.join(KINDS)}, answer:<id>, free:<key>")


def interest(parts: Iterable[str]) -> Interest:
    """The interest that these parts of `wake_on` express. Raises ValueError with the reason."""
    return _interest(tuple(parts))


# Most waits ask for one of a few things, and parked ones keep theirs.
@functools.lru_cache(maxsize=1024)
def _interest(parts: tuple[str, ...]) -> Interest:
    targets = [parse_target(part) for part in parts]
    return Interest(
        types=frozenset(parts) & _TYPES,
        expiry="expiry" in parts,
        answers=frozenset(target for target in targets if isinstance(target, int)),
        free=frozenset(target for target in targets if isinstance(target, str)),
    )
