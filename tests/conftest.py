"""Databases for tests: one private server for the whole run, and a fresh copy for each test."""

from __future__ import annotations

import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from coordroomsd.store.database import Database
from coordroomsd.store.private_postgres import PrivatePostgres
from coordroomsd.store.sessions import ConnectArguments
from tests.figures import pytest_terminal_summary  # noqa: F401
from tests.postgres_servers import ConfiguredServer, debian_binaries, execute, make_state_dir

TEMPLATE: Final = "coordrooms_template"

_numbers: Final = count(1)


def pytest_configure() -> None:
    """A background job has Ctrl-C ignored, and nohup's has hang-ups, as have their children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "asyncio", {"use_uvloop": True}


@pytest.fixture
def state_dir() -> Iterator[Path]:
    """Empty, and fit for a private server."""
    path = make_state_dir()
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
async def server() -> AsyncIterator[PrivatePostgres]:
    """A private server with an empty, migrated database named `TEMPLATE`."""
    path = make_state_dir()
    server = PrivatePostgres(path)
    try:
        await server.start()
        await execute(server.connect_arguments("postgres"), f"CREATE DATABASE {TEMPLATE}")
        database = await Database.open(server.connect_arguments(TEMPLATE), owner="the template")
        # Its copies have not come from anywhere.
        await database.writer.execute("UPDATE journal SET place = ''")
        await database.close()
        yield server
    finally:
        await server.stop()
        shutil.rmtree(path)


@pytest.fixture
async def connect_arguments(server: PrivatePostgres) -> AsyncIterator[dict[str, Any]]:
    """How to reach a migrated database of the test's own."""
    name = f"test_{next(_numbers)}"
    keeper = server.connect_arguments("postgres")
    await execute(keeper, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    yield server.connect_arguments(name)
    await execute(keeper, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database(connect_arguments: dict[str, Any]) -> AsyncIterator[Database]:
    """That database, owned and opened."""
    database = await Database.open(connect_arguments, owner="the test")
    yield database
    await database.close()


@pytest.fixture(scope="session")
async def configured_server() -> AsyncIterator[ConfiguredServer]:
    """A server of another version than the private one's, reached by URL."""
    found = debian_binaries()
    if not found:
        pytest.skip("needs a PostgreSQL below /usr/lib/postgresql (apt-get install postgresql)")
    server = ConfiguredServer(found[0])
    try:
        await server.start()
        yield server
    finally:
        await server.stop()


@pytest.fixture
async def private_address(server: PrivatePostgres) -> AsyncIterator[dict[str, Any]]:
    """An empty database on the private server."""
    name = f"test_{next(_numbers)}"
    keeper = server.connect_arguments("postgres")
    await execute(keeper, f"CREATE DATABASE {name}")
    yield server.connect_arguments(name)
    await execute(keeper, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def configured_address(configured_server: ConfiguredServer) -> AsyncIterator[str]:
    """An empty database on the configured server, as a URL."""
    name = f"test_{next(_numbers)}"
    keeper = configured_server.url("postgres")
    await execute(keeper, f"CREATE DATABASE {name}")
    yield configured_server.url(name)
    await execute(keeper, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["private", "configured"])
def address(request: pytest.FixtureRequest) -> ConnectArguments:
    """An empty database on the one server and on the other."""
    found: ConnectArguments = request.getfixturevalue(f"{request.param}_address")
    return found
