from __future__ import annotations

import asyncpg
import pytest

from coordroomsd.store.errors import DatabaseUnreachableError
from coordroomsd.store.faults import Fault, fault_of


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (ConnectionResetError(), Fault.OUTCOME_UNKNOWN),
        (TimeoutError(), Fault.OUTCOME_UNKNOWN),
        (asyncpg.InterfaceError("connection is closed"), Fault.OUTCOME_UNKNOWN),
        (asyncpg.ConnectionDoesNotExistError("gone"), Fault.OUTCOME_UNKNOWN),
        (asyncpg.AdminShutdownError("terminated"), Fault.OUTCOME_UNKNOWN),
        (asyncpg.CrashShutdownError("another session crashed"), Fault.OUTCOME_UNKNOWN),
        (asyncpg.CannotConnectNowError("starting up"), Fault.OUTCOME_UNKNOWN),
        # A statement that is sent while the server says farewell gets this, and no SQLSTATE.
        (asyncpg.InternalClientError("cannot switch to state 12"), Fault.OUTCOME_UNKNOWN),
        (asyncpg.DiskFullError("no space left"), Fault.UNAVAILABLE),
        (asyncpg.TooManyConnectionsError("too many"), Fault.UNAVAILABLE),
        (DatabaseUnreachableError("no descriptor is left"), Fault.UNAVAILABLE),
        (asyncpg.ReadOnlySQLTransactionError("read-only"), Fault.REFUSED),
        (asyncpg.UniqueViolationError("there already"), Fault.REFUSED),
        (asyncpg.DataError("value out of int64 range"), Fault.REFUSED),
        (AssertionError("a bug"), Fault.REFUSED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_an_error_means_for_its_batch(error: Exception, fault: Fault) -> None:
    assert fault_of(error) is fault
