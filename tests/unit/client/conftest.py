from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coordrooms import AsyncClient, Client
from coordrooms.calls import Work
from tests.unit.client.fake_daemons import FakeDaemon


@pytest.fixture
def fake_daemon() -> Iterator[FakeDaemon]:
    """A listening daemon on a Unix socket; its path is short, as the kernel wants it."""
    with tempfile.TemporaryDirectory(prefix="coordrooms-") as directory:
        daemon = FakeDaemon(Path(directory, "d.sock"))
        daemon.start()
        yield daemon
        daemon.stop()


@pytest.fixture
def tcp_daemon() -> Iterator[FakeDaemon]:
    """The same on the loopback address."""
    daemon = FakeDaemon()
    daemon.start()
    yield daemon
    daemon.stop()


class Front:
    """One of the two clients, so that a test can be about both."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._clients: list[AsyncClient | Client] = []

    def client(self, url: str, **settings: Any) -> Callable[[Work[Any]], Any]:
        """A coroutine function that runs work through a client for `url`."""
        if self._name == "async":
            client = AsyncClient("ann-1", url=url, **settings)
            self._clients.append(client)
            return client.run
        blocking = Client("ann-1", url=url, **settings)
        self._clients.append(blocking)
        return lambda work: asyncio.to_thread(blocking.run, work)

    def close(self) -> None:
        for client in self._clients:
            client.close()


@pytest.fixture(params=["async", "sync"])
async def front(request: pytest.FixtureRequest) -> Any:
    front = Front(request.param)
    yield front
    front.close()
