"""The two clients over real sockets: the same calls, the same answers, through all that happens."""

from __future__ import annotations

import asyncio
import inspect
import json
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from coordrooms import (
    AsyncClient,
    AsyncRoom,
    Client,
    DaemonUnreachableError,
    PayloadTooLargeError,
    Room,
)
from coordrooms.events import event
from coordrooms.operations import messages
from tests.unit.client import documents
from tests.unit.client.conftest import Front
from tests.unit.client.fake_daemons import PARK, Answer, FakeDaemon, whole
from tests.unit.client.scripted import reply_bytes

POSTED = documents.posted(documents.message(5, "hello"))
HELLO = messages.post("r", "hello")
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
FRAME = f"id: 8\ndata: {json.dumps(documents.message(8))}\n\n".encode()


async def test_a_call_over_a_unix_socket(front: Front, fake_daemon: FakeDaemon) -> None:
    fake_daemon.answer(whole(POSTED, 201))
    posted = await front.client(fake_daemon.url)(HELLO)
    assert posted.message.body == "hello"
    request = fake_daemon.request()
    assert request is not None
    assert request.headers["host"] == "localhost"
    assert request.headers["coordrooms-conversation"] == "ann-1"


async def test_a_call_over_tcp(front: Front, tcp_daemon: FakeDaemon) -> None:
    tcp_daemon.answer(whole(POSTED, 201))
    posted = await front.client(tcp_daemon.url)(HELLO)
    assert posted.message.body == "hello"
    request = tcp_daemon.request()
    assert request is not None
    assert request.headers["host"] == f"127.0.0.1:{tcp_daemon.port}"


async def test_an_answer_byte_by_byte(front: Front, fake_daemon: FakeDaemon) -> None:
    data = reply_bytes(POSTED, 201)
    fake_daemon.answer(Answer(tuple(data[n : n + 1] for n in range(len(data)))))
    assert (await front.client(fake_daemon.url)(HELLO)).message.body == "hello"


async def test_an_answer_in_chunks(front: Front, fake_daemon: FakeDaemon) -> None:
    body = reply_bytes(POSTED).partition(b"\r\n\r\n")[2]
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    head = b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
    fake_daemon.answer(Answer((head + chunks,)), whole(POSTED))
    run = front.client(fake_daemon.url)
    assert (await run(HELLO)).message.body == "hello"
    await run(HELLO)
    assert fake_daemon.accepted == 1


async def test_a_large_answer(front: Front, fake_daemon: FakeDaemon) -> None:
    body = "x" * 3_000_000
    fake_daemon.answer(whole(documents.posted(documents.message(5, body))))
    assert (await front.client(fake_daemon.url)(HELLO)).message.body == body


async def test_one_connection_serves_one_call_after_the_other(
    front: Front, fake_daemon: FakeDaemon
) -> None:
    run = front.client(fake_daemon.url)
    for _ in range(5):
        fake_daemon.answer(whole(POSTED))
        await run(HELLO)
    assert fake_daemon.accepted == 1


@pytest.mark.parametrize("then", ["close", "reset"])
async def test_a_connection_that_the_daemon_closed_is_replaced(
    front: Front, fake_daemon: FakeDaemon, then: str
) -> None:
    run = front.client(fake_daemon.url)
    fake_daemon.answer(Answer((reply_bytes(POSTED),), then))  # type: ignore[arg-type]
    fake_daemon.answer(whole(POSTED))
    await run(HELLO)
    await run(HELLO)
    assert fake_daemon.accepted == 2


async def test_a_call_survives_a_restart(front: Front, fake_daemon: FakeDaemon) -> None:
    run = front.client(fake_daemon.url)
    fake_daemon.answer(whole(POSTED), Answer((b"HTTP/1.1 200 OK\r\nContent-",), "park"))
    await run(HELLO)
    fake_daemon.request()
    waiting = asyncio.ensure_future(run(HELLO))
    torn = await asyncio.to_thread(fake_daemon.request)
    await asyncio.to_thread(fake_daemon.stop)
    assert fake_daemon.request() is None, "the answer broke off"
    fake_daemon.answer(whole(POSTED))
    fake_daemon.start()
    assert (await waiting).message.id == 5
    again = fake_daemon.request()
    assert torn is not None
    assert again is not None
    assert torn.key == again.key


async def test_a_daemon_that_is_not_there(front: Front, fake_daemon: FakeDaemon) -> None:
    run = front.client(fake_daemon.url, patience_s=0.2)
    fake_daemon.stop()
    with pytest.raises(DaemonUnreachableError, match="No such file or directory"):
        await run(HELLO)


async def test_a_port_where_nobody_listens(front: Front, tcp_daemon: FakeDaemon) -> None:
    run = front.client(tcp_daemon.url, patience_s=0.2)
    tcp_daemon.stop()
    with pytest.raises(DaemonUnreachableError, match=r"refused|Connect call failed"):
        await run(HELLO)


async def test_an_answer_that_does_not_come(front: Front, fake_daemon: FakeDaemon) -> None:
    run = front.client(fake_daemon.url, timeout_s=0.05, patience_s=0)
    fake_daemon.answer(PARK)
    with pytest.raises(DaemonUnreachableError, match="no answer came in time"):
        await run(HELLO)
    assert fake_daemon.request() is not None
    assert await asyncio.to_thread(fake_daemon.request) is None, "its connection is closed"


async def test_a_request_that_is_refused_before_it_was_read(front: Front) -> None:
    """The daemon answers a request that is too large and closes; the rest cannot be sent."""
    problem = {"code": "payload_too_large", "detail": "It is too large.", "recovery": "Shorten it."}
    answer = reply_bytes(problem, 413, connection="close")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1000)
    async with server:
        port = server.sockets[0].getsockname()[1]
        run = front.client(f"http://127.0.0.1:{port}", patience_s=0)
        large = messages.post("r", "x" * 2_000_000)
        # The kernel may throw the answer away with the connection, and then it stays unknown.
        with pytest.raises((PayloadTooLargeError, DaemonUnreachableError)):
            await run(large)


# --- what only one of them has -------------------------------------------------------------


async def test_a_call_that_is_cancelled_leaves_no_connection(fake_daemon: FakeDaemon) -> None:
    fake_daemon.answer(PARK, whole(POSTED))
    async with AsyncClient("ann-1", url=fake_daemon.url) as client:
        waiting = asyncio.ensure_future(client.room("r").wait(4))
        await asyncio.to_thread(fake_daemon.request)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await asyncio.to_thread(fake_daemon.request) is None, "its connection is closed"
        await client.run(HELLO)


async def test_calls_at_once_have_connections_of_their_own(fake_daemon: FakeDaemon) -> None:
    fake_daemon.answer(PARK, *[whole(POSTED)] * 20)
    async with AsyncClient("ann-1", url=fake_daemon.url) as client:
        parked = asyncio.ensure_future(client.room("r").wait(4))
        await asyncio.to_thread(fake_daemon.request)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(20):
                tasks.create_task(client.run(HELLO))
        parked.cancel()


def test_threads_share_a_client(fake_daemon: FakeDaemon) -> None:
    fake_daemon.answer(*[whole(POSTED)] * 200)
    with Client("ann-1", url=fake_daemon.url) as client, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.run(HELLO).message.id, range(200)))
    assert answers == [5] * 200
    assert fake_daemon.accepted <= 8


def test_an_interrupt_leaves_no_connection(fake_daemon: FakeDaemon) -> None:
    fake_daemon.answer(PARK)

    def interrupt_when_parked() -> None:
        fake_daemon.request()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    interrupter = threading.Thread(target=interrupt_when_parked)
    interrupter.start()
    with Client("ann-1", url=fake_daemon.url) as client, pytest.raises(KeyboardInterrupt):
        client.room("r").wait(4)
    interrupter.join()
    assert fake_daemon.request() is None, "its connection is closed"


async def test_leaving_a_follow_leaves_no_connection(fake_daemon: FakeDaemon) -> None:
    fake_daemon.answer(whole(documents.wait(4, documents.message(5), documents.message(6))), PARK)
    async with AsyncClient("ann-1", url=fake_daemon.url) as client:
        seen = []

        async def follow() -> None:
            async for item in client.room("r").follow(4):
                seen.append(item)  # noqa: PERF401 - what was seen before the end counts

        following = asyncio.ensure_future(follow())
        await asyncio.to_thread(fake_daemon.request)
        await asyncio.to_thread(fake_daemon.request)
        assert len(seen) == 2
        following.cancel()
        assert await asyncio.to_thread(fake_daemon.request) is None


def test_following_with_the_blocking_client(fake_daemon: FakeDaemon) -> None:
    fake_daemon.answer(whole(documents.wait(4, documents.message(5), documents.message(6))))
    with Client("ann-1", url=fake_daemon.url) as client:
        following = client.room("r").follow(4)
        assert [next(following), next(following)] == [
            *(event(documents.message(seq)) for seq in (5, 6))
        ]


async def test_leaving_a_stream_closes_it(fake_daemon: FakeDaemon) -> None:
    overview = whole({"room": documents.room(), "members": [], "claims": []})
    event_stream = Answer((STREAM_HEAD, b"%x\r\n" % len(FRAME) + FRAME + b"\r\n"), "park")
    fake_daemon.answer(overview, event_stream)
    async with AsyncClient("ann-1", url=fake_daemon.url) as client:
        stream = client.room("r").stream()
        assert getattr(await anext(stream), "seq", None) == 8
        await stream.aclose()
    requests = [await asyncio.to_thread(fake_daemon.request) for _ in range(3)]
    assert requests[2] is None


def test_leaving_a_blocking_stream_closes_it(fake_daemon: FakeDaemon) -> None:
    overview = whole({"room": documents.room(), "members": [], "claims": []})
    event_stream = Answer((STREAM_HEAD, b"%x\r\n" % len(FRAME) + FRAME + b"\r\n"), "park")
    fake_daemon.answer(overview, event_stream)
    with Client("ann-1", url=fake_daemon.url) as client:
        stream = client.room("r").stream()
        assert getattr(next(stream), "seq", None) == 8
        stream.close()
    assert [fake_daemon.request() for _ in range(3)][2] is None


# --- handles -------------------------------------------------------------------------------


async def test_a_room_handle_goes_by_the_slug(fake_daemon: FakeDaemon) -> None:
    fake_daemon.answer(*[whole(documents.joined(), 201)] * 2, whole(POSTED))
    async with AsyncClient("ann-1", url=fake_daemon.url) as client:
        made = await client.create_room("The Room")
        joined = await client.join("The Room")
        assert made.ref == joined.ref == "the-room"
        assert joined.joined is not None
        assert joined.joined.next_after_seq == 3
        await joined.post("hello")
    paths = [request and request.path for request in [fake_daemon.request() for _ in range(3)]]
    assert paths == ["/rooms", "/rooms/The%20Room/join", "/rooms/the-room/messages"]


async def test_a_conversation_handle_goes_by_the_id(fake_daemon: FakeDaemon) -> None:
    room = documents.room(id="c_1", name=None, slug=None, kind="peer", members=[])
    sent = {"message": documents.message(1, "psst", kind="note"), "latest_seq": 1}
    fake_daemon.answer(whole({"conversation": room}, 201), whole(sent, 201))
    async with AsyncClient("ann-1", url=fake_daemon.url) as client:
        thread = await client.open_conversation("bob-1")
        assert (await thread.send("psst")).message.id == 1
    fake_daemon.request()
    request = fake_daemon.request()
    assert request is not None
    assert (request.path, request.body) == (
        "/conversations/c_1/messages",
        {"kind": "note", "body": "psst"},
    )
    assert request.key


def public(cls: type) -> dict[str, Callable[..., object]]:
    return {
        name: value
        for name, value in inspect.getmembers(cls)
        if not name.startswith("_") and callable(value)
    }


@pytest.mark.parametrize(("blocking", "asynchronous"), [(Client, AsyncClient), (Room, AsyncRoom)])
def test_both_fronts_offer_the_same(blocking: type, asynchronous: type) -> None:
    ours, theirs = public(blocking), public(asynchronous)
    assert ours.keys() == theirs.keys()
    for name, method in ours.items():
        mine, other = inspect.signature(method), inspect.signature(theirs[name])
        assert mine.parameters == other.parameters, name
