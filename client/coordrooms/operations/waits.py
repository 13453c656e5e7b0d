"""Waiting for what others do, and what lifecycle delivery hands over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..calls import Call, Pause
from ..news import MultiWait, Unread, Wait
from ..outages import jittered
from .rooms import room_path

# The contract's bounds.
DEFAULT_WAIT_S = 50.0
LONGEST_WAIT_S = 300.0

# Half a second spreads a few thousand clients, and a restart takes about as long.
CLOSING_PAUSE_S = 0.5

WakeOn = str | Sequence[str]


def wait(
    room: str,
    after_seq: int | None = None,
    *,
    wake_on: WakeOn = "message",
    timeout_s: float = DEFAULT_WAIT_S,
    limit: int = 100,
    generation: str | None = None,
) -> Call[Wait]:
    """Park until somebody else does something of a kind in `wake_on` after `after_seq`.

    Without `after_seq` it begins at the durable cursor. Carry `next_after_seq` of the answer into
    the next wait: that proves what was received. Kinds: `message`, `status`, `reaction`, `claim`,
    `member`, `expiry`, `answer:<id>`, `free:<key>`. `timeout_s` is 0 to 300.
    """
    return Call(
        method="GET",
        path=room_path(room, "/wait"),
        parse=Wait.from_json,
        query={
            "after_seq": after_seq,
            "wake_on": _kinds(wake_on),
            "limit": limit,
            "generation": generation,
        },
        wait_s=timeout_s,
    )


def wait_many(
    cursors: Mapping[str, int | None],
    *,
    wake_on: WakeOn = "message",
    timeout_s: float = DEFAULT_WAIT_S,
    limit: int = 100,
) -> Call[MultiWait]:
    """Park on the active room and conversations at once.

    `cursors` names each room (slug or id) with the number to begin after, or None for its durable
    cursor. Targets name their room: `answer:<room>/<id>`, `free:<room>/<key>`.
    """
    return Call(
        method="POST",
        path="/wait",
        parse=MultiWait.from_json,
        body={"cursors": dict(cursors), "wake_on": _kinds(wake_on), "limit": limit},
        wait_s=timeout_s,
    )


def closing_pause() -> Pause:
    """What to do before waiting again when the daemon said that it is stopping."""
    return Pause(jittered(CLOSING_PAUSE_S))


def unread(*, limit: int = 50, max_bytes: int = 65_536) -> Call[list[Unread]]:
    """The messages behind the durable cursors, of the active room and each conversation."""
    return Call(
        method="GET",
        path="/unread",
        parse=lambda data: [Unread.from_json(row) for row in data["unread"]],
        query={"limit": limit, "max_bytes": max_bytes},
    )


def confirm(cursors: Mapping[str, int]) -> Call[dict[str, int]]:
    """Move the durable cursors forward, never back; the answer is where they now are."""
    return Call(
        method="POST",
        path="/cursor",
        parse=lambda data: dict(data["cursors"]),
        body={"cursors": dict(cursors)},
    )


def _kinds(wake_on: WakeOn) -> list[str]:
    return [wake_on] if isinstance(wake_on, str) else list(wake_on)
