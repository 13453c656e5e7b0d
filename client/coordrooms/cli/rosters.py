"""The members of a room as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from ..models import Member
from .texts import Style, safe, span

HEADS = ["NAME", "KIND", "STATE", "SEEN", "LAST CALL", "WAKE", "STATUS"]


def roster(members: Sequence[Member], style: Style) -> list[list[str]]:
    """The rows below `HEADS`, active members first. Who waits is parked in a wait right now."""
    now = datetime.now(UTC)
    ordered = sorted(members, key=lambda member: (member.state != "active", member.created_at))
    return [_row(member, style, now) for member in ordered]


def _row(member: Member, style: Style, now: datetime) -> list[str]:
    state = "waiting" if member.waiting else member.state
    called = member.last_seen_at
    return [
        style.name(member.name, safe(member.name)),
        safe(member.kind),
        style.state(state, safe(state)),
        str(member.last_seen_seq),
        "–" if called is None else f"{span((now - called).total_seconds())} ago",
        safe(member.wake),
        _status(member, now),
    ]


def _status(member: Member, now: datetime) -> str:
    status = member.status
    if status is None:
        return ""
    since = span((now - status.since).total_seconds())
    left = span((status.expires_at - now).total_seconds())
    return f"{safe(status.status)} (for {since}, {left} left)"
