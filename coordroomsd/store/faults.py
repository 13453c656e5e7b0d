"""What an exception of the driver means for the batch that raised it."""

from __future__ import annotations

from enum import Enum, auto

import asyncpg

from coordroomsd.store.errors import DatabaseUnreachableError, NoSpaceError


class Fault(Enum):
    # The connection went: the batch is stored or it is not.
    OUTCOME_UNKNOWN = auto()
    # Postgres refused for reasons of its own (no space, shutting down): nothing is stored, another
    # try may do.
    UNAVAILABLE = auto()
    # Postgres refused what was sent: nothing is stored.
    REFUSED = auto()


# Classes of SQLSTATE: connection, resources, limits, operator intervention, system error, rollback.
_PASSING = ("08", "53", "54", "57", "58", "40", "55")


# Somebody else was there first: what the batch was decided on, or a key or name that it made.
_CONFLICTS = (
    asyncpg.DivisionByZeroError,
    asyncpg.UniqueViolationError,
    asyncpg.DeadlockDetectedError,
)


def is_conflict(error: Exception) -> bool:
    """Whether another daemon's write, to a database that is shared, came in between."""
    return isinstance(error, _CONFLICTS)


def fault_of(error: Exception) -> Fault:
    if isinstance(error, NoSpaceError | DatabaseUnreachableError):
        return Fault.UNAVAILABLE
    if isinstance(error, asyncpg.PostgresError):
        state = error.sqlstate or ""
        if state.startswith(("57P", "08")):
            # The server ended the session; when in the commit is not known.
            return Fault.OUTCOME_UNKNOWN
        return Fault.UNAVAILABLE if state.startswith(_PASSING) else Fault.REFUSED
    # An InternalClientError is what a statement gets that meets the server's farewell on its way.
    if isinstance(
        error, (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError)
    ):
        return Fault.OUTCOME_UNKNOWN
    return Fault.REFUSED
