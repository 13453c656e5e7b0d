"""Sessions with the database: how they are set up, and what it means when none is to be had."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import asyncpg

from coordroomsd.store import hosts
from coordroomsd.store.errors import DatabaseUnreachableError, DatabaseUnsuitableError

# What asyncpg.connect takes by keyword, or a postgresql:// URL.
ConnectArguments = Mapping[str, Any] | str

MINIMUM_MAJOR: Final = 15
CONNECT_WITHIN_S: Final = 10.0

_FOR_ALL: Final = {
    "TimeZone": "UTC",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "10s",
    # A server-wide one would cut off a quiet night's connections.
    "idle_session_timeout": "0",
    # Our statements are short: compiling one costs more than it saves.
    "jit": "off",
    # A daemon whose host vanished must not keep its ownership for the usual two hours.
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}

WRITE_SETTINGS: Final = _FOR_ALL | {
    "application_name": "coordroomsd writer",
    # Said aloud: the server, the database and the role may all have other defaults.
    "synchronous_commit": "on",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "plan_cache_mode": "force_generic_plan",
}

UPKEEP_SETTINGS: Final = _FOR_ALL | {
    # What a crash undoes is done again.
    "synchronous_commit": "off",
    "application_name": "coordroomsd upkeep",
    "default_transaction_read_only": "off",
    "statement_timeout": "30s",
}

BUS_SETTINGS: Final = _FOR_ALL | {
    # What it says is forgotten anyway.
    "synchronous_commit": "off",
    "application_name": "coordroomsd bus",
    "default_transaction_read_only": "off",
}

READ_SETTINGS: Final = _FOR_ALL | {
    "application_name": "coordroomsd reader",
    "default_transaction_read_only": "on",
    "statement_timeout": "30s",
}

# Archives are read and written as COPY's text, in which the session's settings would show; and for
# as long as it takes: a pipe may be slow.
_FOR_ARCHIVES: Final = _FOR_ALL | {
    "DateStyle": "ISO, YMD",
    "bytea_output": "hex",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}

BACKUP_SETTINGS: Final = _FOR_ARCHIVES | {
    "application_name": "coordroomsd backup",
    "default_transaction_read_only": "on",
}

RESTORE_SETTINGS: Final = (
    WRITE_SETTINGS | _FOR_ARCHIVES | {"application_name": "coordroomsd restore"}
)


def describe(arguments: ConnectArguments) -> str:
    """Which database these arguments mean, for a message: never with the password."""
    if isinstance(arguments, str):
        match = hosts.URL.fullmatch(arguments)
        if match is None:
            return "the configured database"
        in_query = re.search(r"(?:^|&)host=([^&]*)", match["query"] or "")
        place, database = match["hosts"] or (in_query[1] if in_query else ""), match["database"]
    else:
        place, database = arguments.get("host", ""), arguments.get("database", "")
        port = arguments.get("port")
        if port and not str(place).startswith("/"):
            place = f"{place}:{port}"
    named = f"the database {database}" if database else "the database"
    return f"{named} at {place}" if place else named


async def connect(arguments: ConnectArguments, settings: Mapping[str, str]) -> asyncpg.Connection:
    """A session with a primary server.

    :raises DatabaseUnreachableError: nobody answered within `CONNECT_WITHIN_S`, or not with yes.
    :raises DatabaseUnsuitableError: a standby, a PostgreSQL that is too old, or a pooler.
    """
    with refusals_explained(arguments):
        connection = await _connect_patiently(**for_asyncpg(arguments, settings))
    try:
        _check_version(connection, arguments)
    except DatabaseUnsuitableError:
        connection.terminate()
        raise
    return connection


async def open_read_pool(arguments: ConnectArguments, size: int) -> asyncpg.Pool:
    """A pool for reading only, with one session open.

    :raises DatabaseUnreachableError, DatabaseUnsuitableError: see `connect`.
    """
    with refusals_explained(arguments):
        pool = await asyncpg.create_pool(
            # More would be made although nobody asked, and cannot be while the server is away.
            min_size=0,
            max_size=size,
            command_timeout=60,
            connect=_connect_patiently,
            # A reader changes nothing in its session, and undoing nothing costs a round trip.
            reset=_leave_as_it_is,
            **for_asyncpg(arguments, READ_SETTINGS),
        )
        async with pool.acquire():
            return pool


async def _connect_patiently(*arguments: Any, **options: Any) -> asyncpg.Connection:
    """`asyncpg.connect`, for up to `CONNECT_WITHIN_S` while the server is too busy to answer."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + CONNECT_WITHIN_S
    while True:
        try:
            return await hosts.connect(*arguments, **options)
        except hosts.PASSING:
            if loop.time() > deadline:
                raise
        await asyncio.sleep(0.02)


def for_asyncpg(arguments: ConnectArguments, settings: Mapping[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    given |= {"dsn": arguments} if isinstance(arguments, str) else arguments
    server_settings = {**given.pop("server_settings", {}), **settings}
    return given | {
        "server_settings": server_settings,
        "target_session_attrs": "primary",
        "timeout": CONNECT_WITHIN_S,
    }


@contextmanager
def refusals_explained(arguments: ConnectArguments) -> Iterator[None]:
    """Turn what asyncpg raises while connecting into this package's errors."""
    where = describe(arguments)
    try:
        yield
    except asyncpg.TargetServerAttributeNotMatched:
        raise DatabaseUnsuitableError(
            f"{where} is a standby, which cannot be written to; promote it, or configure the "
            "primary's address"
        ) from None
    except asyncpg.UndefinedObjectError as error:
        raise DatabaseUnsuitableError(
            f"{where} is too old ({error}): PostgreSQL {MINIMUM_MAJOR} or newer is needed"
        ) from error
    except asyncpg.ProtocolViolationError as error:
        raise DatabaseUnsuitableError(
            f"{where} does not take the session settings that the daemon depends on ({error}): "
            "configure the address of PostgreSQL itself, not of a connection pooler"
        ) from error
    except asyncpg.PostgresError as error:
        raise DatabaseUnreachableError(
            f"{where} refused the connection: {error}; check the user, the password and the "
            "name of the database in [database] url"
        ) from error
    except TimeoutError as error:
        raise DatabaseUnreachableError(
            f"{where} did not answer within {CONNECT_WITHIN_S:.0f} s; check that it runs and that "
            "[database] url names its address"
        ) from error
    except OSError as error:
        raise DatabaseUnreachableError(
            f"cannot reach {where}: {error.strerror or error}; check that it runs and that "
            "[database] url names its address"
        ) from error
    except (asyncpg.InterfaceError, ValueError):
        # The text of these repeats parts of the URL, and a wrong part may be of the password.
        raise DatabaseUnreachableError(
            f"the address of {where} cannot be read; [database] url is like "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with / ? # and @ in a name or "
            "password percent-encoded"
        ) from None


async def close(connection: asyncpg.Connection, within_s: float) -> None:
    """End a session in good order, or, when that takes too long or fails, at once."""
    try:
        await connection.close(timeout=within_s)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        connection.terminate()


def _check_version(connection: asyncpg.Connection, arguments: ConnectArguments) -> None:
    version = connection.get_server_version()
    if version.major < MINIMUM_MAJOR:
        raise DatabaseUnsuitableError(
            f"{describe(arguments)} runs PostgreSQL {version.major}; upgrade it to "
            f"{MINIMUM_MAJOR} or newer"
        )


async def _leave_as_it_is(connection: asyncpg.Connection) -> None:
    pass
