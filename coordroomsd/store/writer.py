"""The one write statement: a batch becomes one round trip and one commit.

The statement is put together from the parts of write.sql that the batch needs; Postgres prepares
each combination once, as long as it is in use.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from coordroomsd.store import queries
from coordroomsd.store.rows import Expected, Rows, event_row, message_row

_PARTS = queries.load("write.sql")
_PARAMETER = re.compile(r"\$(\d+)")
_ROWS = re.compile(r"unnest\(([^)]*)\)")
# Parts that have to find as many rows as they name, and are looked at in this order.
_COUNTED = ("unmoved_rooms", "unmoved_participants", "unmoved_identities", "heads")


class Shape(NamedTuple):
    """A part as it stands in the statement: for one row or for many, so many parameters."""

    name: str
    is_one_row: bool
    parameters: int


# A part's name, its rows, and parameters after those of the rows.
Part = tuple[str, Sequence[Sequence[Any]], tuple[Any, ...]]


def write_statement(rows: Rows, batch: int, daemon_id: int | None = None) -> tuple[str, list[Any]]:
    """The statement for `rows` and its arguments; `daemon_id` where several daemons write.

    It fails as a whole (division by zero) when a room's head is not the one that the batch was
    decided on: somebody else wrote to a database that this daemon owns. Of a database that it
    shares, whatever is not as `rows.expected` says makes it fail so.
    """
    shapes: list[Shape] = []
    arguments: list[Any] = [batch] if daemon_id is None else [batch, daemon_id]
    for name, values, others in _parts(rows):
        is_one_row = len(values) == 1
        columns = values[0] if is_one_row else [list(c) for c in zip(*values, strict=True)]
        shapes.append(Shape(name, is_one_row, len(columns) + len(others)))
        arguments += columns
        arguments += others
    arguments += _counts(rows)
    return _sql(tuple(shapes), daemon_id is not None), arguments


# There are thousands of combinations, of 5 KB each: those of the last minutes are enough.
@functools.lru_cache(maxsize=512)
def _sql(shapes: tuple[Shape, ...], is_shared: bool) -> str:
    batch = "shared_batch" if is_shared else "batch"
    clauses = [f"batch_ AS (\n{_PARTS[batch]}\n)"]
    offset = 2 if is_shared else 1
    for name, is_one_row, parameters in shapes:
        sql = _PARTS[name]
        if is_one_row:
            sql = _ROWS.sub(lambda found: f"(VALUES ({found[1].replace('[]', '')}))", sql)
        sql = _PARAMETER.sub(lambda found, by=offset: f"${int(found[1]) + by}", sql)  # type: ignore[misc]
        clauses.append(f"{name}_ AS (\n{sql}\n)")
        offset += parameters
    counted = [shape.name for shape in shapes if shape.name in _COUNTED]
    conditions = [
        f"(SELECT count(*) FROM {name}_) = ${number}"  # noqa: S608 - ours
        for number, name in enumerate(counted, offset + 1)
    ]
    if is_shared:
        # Without it nobody would know, after a lost connection, whether the batch is stored.
        conditions.append("(SELECT count(*) FROM batch_) = 1")
    check = f"SELECT 1 / ({' AND '.join(conditions)})::int" if conditions else "SELECT 1"
    return f"WITH {', '.join(clauses)}\n{check}"


def _counts(rows: Rows) -> Iterable[int]:
    """How many rows the parts that are `_COUNTED` have to find, in their order."""
    if rows.expected:
        if rows.expected.rooms:
            yield len(rows.expected.rooms)
        if rows.expected.participants:
            yield len(rows.expected.participants)
        if rows.expected.identities is not None:
            yield 1
    if rows.heads:
        yield len(rows.heads)


def _parts(rows: Rows) -> Iterable[Part]:
    if rows.expected:
        yield from _expected_parts(rows.expected)
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


def _expected_parts(expected: Expected) -> Iterable[Part]:
    if expected.rooms:
        yield "unmoved_rooms", sorted(expected.rooms.items()), ()
    if expected.participants:
        people = sorted(expected.participants.items(), key=operator.itemgetter(0))
        yield "unmoved_participants", people, ()
    if expected.identities is not None:
        yield "unmoved_identities", [(expected.identities,)], ()


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
