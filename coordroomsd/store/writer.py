"""The one write statement: a batch becomes one round trip and one commit.

The statement is put together from the parts of write.sql that the batch needs; Postgres prepares
each combination once.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from coordroomsd.store import queries
from coordroomsd.store.rows import Rows, event_row, message_row

_PARTS = queries.load("write.sql")
_PARAMETER = re.compile(r"\$(\d+)")
_ROWS = re.compile(r"unnest\(([^)]*)\)")


class Shape(NamedTuple):
    """A part as it stands in the statement: for one row or for many, so many parameters."""

    name: str
    is_one_row: bool
    parameters: int


# A part's name, its rows, and parameters after those of the rows.
Part = tuple[str, Sequence[Sequence[Any]], tuple[Any, ...]]


def write_statement(rows: Rows, batch: int) -> tuple[str, list[Any]]:
    """The statement for `rows` and its arguments.

    It fails as a whole (division by zero) when a room's head is not the one that the batch was
    decided on: somebody else wrote to a database that this daemon owns.
    """
    shapes: list[Shape] = []
    arguments: list[Any] = [batch]
    for name, values, others in _parts(rows):
        is_one_row = len(values) == 1
        columns = values[0] if is_one_row else [list(c) for c in zip(*values, strict=True)]
        shapes.append(Shape(name, is_one_row, len(columns) + len(others)))
        arguments += columns
        arguments += others
    if rows.heads:
        arguments.append(len(rows.heads))
    return _sql(tuple(shapes)), arguments


@functools.cache
def _sql(shapes: tuple[Shape, ...]) -> str:
    clauses = [f"batch_ AS (\n{_PARTS['batch']}\n)"]
    offset, check = 1, "SELECT 1"
    for name, is_one_row, parameters in shapes:
        sql = _PARTS[name]
        if is_one_row:
            sql = _ROWS.sub(lambda found: f"(VALUES ({found[1].replace('[]', '')}))", sql)
        sql = _PARAMETER.sub(lambda found, by=offset: f"${int(found[1]) + by}", sql)  # type: ignore[misc]
        clauses.append(f"{name}_ AS (\n{sql}\n)")
        offset += parameters
    if any(shape.name == "heads" for shape in shapes):
        check = f"SELECT 1 / ((SELECT count(*) FROM heads_) = ${offset + 1})::int"  # noqa: S608
    return f"WITH {', '.join(clauses)}\n{check}"


def _parts(rows: Rows) -> Iterable[Part]:
    if rows.participants:
        people = [
            (p.id, p.project, p.conversation_id, p.name, p.kind, p.role, p.active_room_id,
             p.last_room_id, rows.at)
            for p in rows.participants.values()
        ]  # fmt: skip
        yield "participants", people, ()
    if rows.new_rooms:
        rooms = [
            (r.id, r.project, r.kind, r.name, r.slug, *(pair or (None, None)), r.created_at, r.head)
            for r, pair in rows.new_rooms.values()
        ]
        yield "rooms", rooms, ()
    if rows.heads:
        heads = [
            (r.id, expected, r.head, r.first_seq, r.max_age_s, r.max_events)
            for expected, r in rows.heads.values()
        ]
        yield "heads", heads, ()
    if rows.removals:
        yield "removals", list(rows.removals.items()), ()
        yield "removed_reactions", [()], ()
        yield "removed_words", [()], ()
    if rows.memberships:
        members = [
            (room_id, m.id, m.participant_id, m.active, *position, m.created_at)
            for (room_id, _), (m, position) in rows.memberships.items()
        ]
        yield "memberships", members, ()
    if rows.positions:
        yield "positions", [(*where, *position) for where, position in rows.positions.items()], ()
    if rows.arrivals:
        yield "arrivals", [(*where, left) for where, left in rows.arrivals.items()], ()
    if rows.departures:
        yield "departures", [(*where, left) for where, left in rows.departures.items()], ()
    if messages := [event for event in rows.events if event[1].type == "message"]:
        yield "messages", [message_row(*event) for event in messages], (rows.at,)
    if len(messages) < len(rows.events):
        others = [event_row(*event) for event in rows.events if event[1].type != "message"]
        yield "other_events", others, ()
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
        yield "answers", [(*key, *answer, rows.at) for key, answer in rows.answers.items()], ()
    yield from _identity_parts(rows)


def _identity_parts(rows: Rows) -> Iterable[Part]:
    if offered := [offer for offer in rows.enrollments.values() if offer is not None]:
        yield "enrollments", offered, ()
    if used := [(code,) for code, offer in rows.enrollments.items() if offer is None]:
        yield "enrollments_ended", used, ()
    if rows.enrolled:
        yield "enrolled", list(rows.enrolled.values()), ()


def _kept_and_ended(name: str, changes: dict[Any, Any], values: Any) -> Iterable[Part]:
    """What stands is put, what is None is deleted."""
    if not changes:
        return
    if kept := [(*key, *values(value)) for key, value in changes.items() if value is not None]:
        yield name, kept, ()
    if ended := [key for key, value in changes.items() if value is None]:
        yield f"{name}_ended", ended, ()
