"""The one write statement: a batch becomes one round trip and one commit.

The statement is put together from the parts of write.sql that the batch needs; Postgres prepares
each combination once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from coordroomsd.store import queries
from coordroomsd.store.rows import Rows, event_row

_PARTS = queries.load("write.sql")
_PARAMETER = re.compile(r"\$(\d+)")

# Each part's parameters are arrays, one a column.
Part = tuple[str, Sequence[Any]]


def write_statement(rows: Rows, batch: int) -> tuple[str, list[Any]]:
    """The statement for `rows` and its arguments.

    It fails as a whole (division by zero) when a room's head is not the one that the batch was
    decided on: somebody else wrote to a database that this daemon owns.
    """
    clauses: list[str] = []
    arguments: list[Any] = []
    for name, values in [("batch", [batch]), *_parts(rows)]:
        offset = len(arguments)
        sql = _PARAMETER.sub(lambda found, by=offset: f"${int(found[1]) + by}", _PARTS[name])  # type: ignore[misc]
        clauses.append(f"{name}_ AS (\n{sql}\n)")
        arguments += values
    check = "SELECT 1"
    if rows.heads:
        arguments.append(len(rows.heads))
        expected = f"${len(arguments)}"
        check = f"SELECT 1 / ((SELECT count(*) FROM heads_) = {expected})::int"  # noqa: S608
    return f"WITH {', '.join(clauses)}\n{check}", arguments


def _parts(rows: Rows) -> Iterable[Part]:
    if rows.participants:
        yield (
            "participants",
            _columns(
                (
                    p.id,
                    p.project,
                    p.conversation_id,
                    p.name,
                    p.kind,
                    p.role,
                    p.active_room_id,
                    p.last_room_id,
                    rows.at,
                )
                for p in rows.participants.values()
            ),
        )
    if rows.new_rooms:
        yield (
            "rooms",
            _columns(
                (
                    r.id,
                    r.project,
                    r.kind,
                    r.name,
                    r.slug,
                    *(pair or (None, None)),
                    r.created_at,
                    r.head,
                )
                for r, pair in rows.new_rooms.values()
            ),
        )
    if rows.heads:
        yield (
            "heads",
            _columns(
                (r.id, expected, r.head, r.first_seq, r.max_age_s, r.max_events)
                for expected, r in rows.heads.values()
            ),
        )
    if rows.removals:
        yield "removals", _columns(rows.removals.items())
        yield "removed_reactions", _columns(rows.removals.items())
    if rows.memberships:
        yield (
            "memberships",
            _columns(
                (room_id, m.id, m.participant_id, m.active, *position, m.created_at)
                for (room_id, _), (m, position) in rows.memberships.items()
            ),
        )
    if rows.positions:
        yield (
            "positions",
            _columns((*where, *position) for where, position in rows.positions.items()),
        )
    if rows.arrivals:
        yield "arrivals", _columns((*where, left) for where, left in rows.arrivals.items())
    if rows.departures:
        yield "departures", _columns((*where, left) for where, left in rows.departures.items())
    if rows.events:
        yield "events", _columns(event_row(room_id, event) for room_id, event in rows.events)
    yield from _kept_and_ended(
        "statuses", rows.statuses, lambda status: (status.status, status.since, status.expires_at)
    )
    yield from _kept_and_ended(
        "claims",
        rows.claims,
        lambda c: (c.holder.membership_id, c.since, c.expires_at, c.fence, c.proposed_by_seq),
    )
    yield from _kept_and_ended("reactions", rows.reactions, lambda at: (at,))
    if rows.answers:
        yield "answers", _columns((*key, *answer, rows.at) for key, answer in rows.answers.items())
    yield from _identity_parts(rows)


def _identity_parts(rows: Rows) -> Iterable[Part]:
    if offered := [offer for offer in rows.enrollments.values() if offer is not None]:
        yield "enrollments", _columns(offered)
    if used := [code for code, offer in rows.enrollments.items() if offer is None]:
        yield "enrollments_ended", [used]
    if rows.enrolled:
        yield "enrolled", _columns(rows.enrolled.values())


def _kept_and_ended(name: str, changes: dict[Any, Any], values: Any) -> Iterable[Part]:
    """What stands is put, what is None is deleted."""
    if kept := [(*key, *values(value)) for key, value in changes.items() if value is not None]:
        yield name, _columns(kept)
    if ended := [key for key, value in changes.items() if value is None]:
        yield f"{name}_ended", _columns(ended)


def _columns(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]
