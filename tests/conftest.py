"""Databases for tests: one private server for the whole run, and a fresh copy for each test."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from coordroomsd.store.database import Database
from coordroomsd.store.private_postgres import PrivatePostgres

TEMPLATE: Final = "coordrooms_template"

_numbers: Final = count(1)


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "asyncio", {"use_uvloop": True}


@pytest.fixture
def state_dir() -> Iterator[Path]:
    path = make_state_dir()
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
async def server() -> AsyncIterator[PrivatePostgres]:
    """A private server with an empty, migrated database named `TEMPLATE`."""
    path = make_state_dir()
    server = PrivatePostgres(path)
    await server.start()
    try:
        await execute(server.connect_arguments("postgres"), f"CREATE DATABASE {TEMPLATE}")
        database = await Database.open(server.connect_arguments(TEMPLATE), owner="the template")
        await database.close()
        yield server
    finally:
        await server.stop()
        shutil.rmtree(path)


@pytest.fixture
async def connect_arguments(server: PrivatePostgres) -> AsyncIterator[dict[str, Any]]:
    """How to reach a migrated database of the test's own."""
    name = f"test_{next(_numbers)}"
    await execute(
        server.connect_arguments("postgres"), f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}"
    )
    yield server.connect_arguments(name)
    await execute(server.connect_arguments("postgres"), f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database(connect_arguments: dict[str, Any]) -> AsyncIterator[Database]:
    database = await Database.open(connect_arguments, owner="the test")
    yield database
    await database.close()


def make_state_dir() -> Path:
    """An empty directory whose path is short, as a socket's must be.

    As root, it is open to the user that the server runs as; pytest's own are closed all the way.
    """
    path = Path(tempfile.mkdtemp(prefix="coordrooms-", dir="/tmp"))
    if os.geteuid() == 0:
        path.chmod(0o711)
    return path


async def execute(connect_arguments: dict[str, Any], sql: str) -> None:
    connection = await asyncpg.connect(**connect_arguments)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()
