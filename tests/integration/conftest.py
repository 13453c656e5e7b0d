"""Private servers with data in them, databases that are opened, and a daemon."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from coordroomsd.store.database import Database
from coordroomsd.store.private_postgres import PrivatePostgres
from coordroomsd.store.sessions import ConnectArguments
from tests.integration.daemons import Running, running
from tests.integration.private_servers import insert_row
from tests.postgres_servers import make_state_dir


@pytest.fixture(scope="session")
def made_state_dir() -> Iterator[Path]:
    """The state of a private server that has stopped, with one row; not to be changed."""

    async def make() -> None:
        server = PrivatePostgres(path)
        await server.start()
        await insert_row(server)
        await server.stop()

    path = make_state_dir()
    asyncio.run(make())
    yield path
    shutil.rmtree(path)


@pytest.fixture
def used_state_dir(made_state_dir: Path, state_dir: Path) -> Path:
    """A copy of that; making the data anew takes ten times as long."""
    subprocess.run(["cp", "-a", f"{made_state_dir}/.", state_dir], check=True)
    return state_dir


@pytest.fixture
async def used_server(used_state_dir: Path) -> AsyncIterator[PrivatePostgres]:
    """Started on that copy."""
    server = PrivatePostgres(used_state_dir)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def opened(address: ConnectArguments) -> AsyncIterator[Database]:
    """An owned database on the one server and on the other."""
    database = await Database.open(address, owner="host here, pid 1")
    yield database
    await database.close()


@pytest.fixture
async def daemon(connect_arguments: dict[str, Any]) -> AsyncIterator[Running]:
    """One inside this process, on a fresh database."""
    async with running(connect_arguments) as daemon:
        yield daemon
