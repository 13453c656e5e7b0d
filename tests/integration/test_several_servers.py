"""URLs that name several servers, some of which are gone, silent, or standbys."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest

from coordroomsd.store import hosts, sessions
from coordroomsd.store.database import Database
from coordroomsd.store.errors import DatabaseUnreachableError
from tests.polling import until
from tests.postgres_servers import free_port


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes connections and says nothing, as one does whose machine hangs."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def before(host: str, address: str) -> str:
    """The URL with that server first."""
    return address.replace("@", f"@{host},", 1)


async def test_a_silent_one_is_passed_over(silent: str, configured_address: str) -> None:
    database = await Database.open(before(silent, configured_address), owner="us")
    database.writer.terminate()
    await database.reopen_writer()
    assert await database.reads.fetchval("SELECT 1") == 1
    await database.close()


async def test_nothing_of_those_passed_over_is_left(silent: str, configured_address: str) -> None:
    before_it = asyncio.all_tasks()
    connection = await sessions.connect(before(silent, configured_address), sessions.READ_SETTINGS)
    # They are told to end, and not waited for.
    await until(lambda: asyncio.all_tasks() == before_it)
    await connection.close()


async def test_the_order_of_the_url_counts_among_those_that_answer(configured_address: str) -> None:
    url = configured_address.replace("127.0.0.1", "localhost")
    port = url.rpartition(":")[2].partition("/")[0]
    both = before(f"127.0.0.1:{port}", url)
    assert [hosts.URL.fullmatch(one)["hosts"] for one in hosts.one_host_each(both)] == [  # type: ignore[index]
        f"127.0.0.1:{port}",
        f"localhost:{port}",
    ]
    for _ in range(5):
        connection = await sessions.connect(both, sessions.READ_SETTINGS)
        assert connection._addr == ("127.0.0.1", int(port))
        await connection.close()


async def test_the_most_telling_refusal_is_told(configured_address: str) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    wrong = before(nobody, configured_address).replace("sp%40ce", "space")
    with pytest.raises(DatabaseUnreachableError, match="password authentication failed"):
        await sessions.connect(wrong, sessions.READ_SETTINGS)
    with pytest.raises(DatabaseUnreachableError, match=r"Connect call failed|refused"):
        await sessions.connect(f"postgresql://{nobody},{nobody}/x", sessions.READ_SETTINGS)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p@h/db",
        "postgresql://u:p@/db?host=a,b",
        "postgresql://u:a@b,c@h/db",
        "postgresql://",
    ],
)
def test_others_are_left_as_they_are(url: str) -> None:
    assert hosts.one_host_each(url) == [url]


def test_each_host_keeps_its_port_and_the_rest() -> None:
    assert hosts.one_host_each("postgres://u:p%2C@a,b:1,[::1]:2/db?sslmode=require") == [
        "postgres://u:p%2C@a/db?sslmode=require",
        "postgres://u:p%2C@b:1/db?sslmode=require",
        "postgres://u:p%2C@[::1]:2/db?sslmode=require",
    ]


async def test_a_vanished_machine_is_noticed(configured_address: str) -> None:
    database = await Database.open(configured_address, owner="us")
    async with database.reads.pool.acquire() as reader:
        for connection in (database.writer, reader):
            wire: socket.socket = connection._transport.get_extra_info("socket")
            assert wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 5_000
            assert wire.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    await database.close()


async def test_a_machine_that_does_not_answer_is_no_reason_to_wait_without_end(
    silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "CONNECT_WITHIN_S", 0.05)
    with pytest.raises(DatabaseUnreachableError, match="did not answer"):
        await sessions.connect(f"postgresql://{silent},{silent}/x", sessions.READ_SETTINGS)
