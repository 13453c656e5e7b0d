"""Requests of every size, speed and shape: each is answered, and none keeps others from theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.acceptance.daemons import running
from tests.integration.callers import Caller, ListeningDaemon
from tests.integration.wires import Headers, Reply, Wire
from tests.polling import block_until

MIB = 1024 * 1024
JSON = ("Content-Type", "application/json")
# More than a request may have, and less than what is read of it before the connection is closed.
CHUNK = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"


@pytest.fixture(scope="module")
def daemon() -> Iterator[ListeningDaemon]:
    with running(ListeningDaemon(config="max_unfinished_mib = 1\n")) as daemon:
        yield daemon
        assert "internal error" not in daemon.log()
        assert "Traceback" not in daemon.log()


@pytest.fixture(scope="module", params=["socket", "tcp"])
def caller(request: pytest.FixtureRequest, daemon: ListeningDaemon) -> Caller:
    """An agent in a room `here`."""
    caller = daemon.enrol(f"over-{request.param}", "agent")
    caller = caller if request.param == "tcp" else caller.over_socket()
    caller.ok("POST", "/rooms", {"name": f"room-{request.param}"})
    return caller


@pytest.fixture
def wire(caller: Caller) -> Iterator[Wire]:
    with Wire(caller) as wire:
        yield wire


@pytest.fixture(scope="module")
def own(caller: Caller) -> Headers:
    host = ("Host", f"127.0.0.1:{caller.daemon.port}")
    return [host, ("Authorization", caller.headers()["Authorization"])]


def _post(wire: Wire, own: Headers, content: bytes) -> Reply:
    return wire.ask("POST", "/api/v1/rooms/@active/messages", [*own, JSON], content)


def test_a_request_of_just_the_size(wire: Wire, own: Headers) -> None:
    assert _post(wire, own, b'{"messages": []}'.ljust(MIB)).outcome == "invalid_arguments"
    assert _post(wire, own, b'{"messages": []}'.ljust(MIB + 1)).outcome == "payload_too_large"


def test_a_size_that_is_only_announced(wire: Wire, own: Headers) -> None:
    """Four times what is allowed is read, so that a sender who is not that far off gets to know."""
    head = [*own, JSON, ("Content-Length", str(10**12))]
    lines = "".join(f"{name}: {value}\r\n" for name, value in head)
    wire.send(f"POST /api/v1/rooms HTTP/1.1\r\n{lines}\r\n".encode() + b"x" * (4 * MIB + 1))
    assert wire.receive().outcome == "payload_too_large"


@pytest.mark.parametrize(
    ("chunks", "outcome"), [(15, "invalid_arguments"), (17, "payload_too_large")]
)
def test_a_body_in_chunks(wire: Wire, own: Headers, chunks: int, outcome: str) -> None:
    head = [*own, JSON, ("Transfer-Encoding", "chunked")]
    lines = "".join(f"{name}: {value}\r\n" for name, value in head)
    wire.send(
        f"POST /api/v1/rooms HTTP/1.1\r\n{lines}\r\n".encode() + CHUNK * chunks + b"0\r\n\r\n"
    )
    assert wire.receive().outcome == outcome


def test_refused_before_the_body_has_come(wire: Wire, own: Headers) -> None:
    """The sender may finish and go on: the connection is still in step."""
    head = [own[0], ("Authorization", "Bearer wrong"), JSON]
    assert wire.ask("POST", "/api/v1/rooms", head, b"x" * MIB).outcome == "unauthorized"
    assert wire.ask("GET", "/api/v1/me", own).status == 200


@pytest.mark.parametrize("part", ["headers", "body"])
def test_others_need_the_room(caller: Caller, wire: Wire, own: Headers, part: str) -> None:
    """Who has been at it longest gives way, and whoever comes then is served."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in [*own, JSON])
    begun = f"POST /api/v1/rooms/@active/messages HTTP/1.1\r\n{lines}".encode()
    begun += b"X: " + b"x" * 50_000
    if part == "body":
        begun += b"\r\nContent-Length: 800000\r\n\r\n" + b" " * 700_000
    wire.send(begun)

    def has_come() -> object:
        text = caller.over_socket().call("GET", "/metrics", base="").content
        return re.search(rb"^coordrooms_unfinished_bytes [57]", text, re.MULTILINE)

    block_until(has_come)
    with Wire(caller) as other:
        head = f"POST /api/v1/rooms HTTP/1.1\r\n{lines}Content-Length: {MIB}\r\n\r\n".encode()
        other.send(head + b"{}".ljust(MIB - 1))
        refused = wire.receive()
        other.send(b" ")
        assert other.receive().outcome == "invalid_arguments"
    assert refused.outcome == "too_many_waiters"
    assert "retry-after: 5" in refused.head.lower()
    assert caller.call("GET", "/me").status == 200


def test_byte_by_byte(wire: Wire, own: Headers) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in [*own, JSON])
    content = b'{"messages": [{"kind": "decision", "body": "slowly"}]}'
    head = f"POST /api/v1/rooms/@active/messages HTTP/1.1\r\n{lines}Content-Length: {len(content)}"
    for byte in head.encode() + b"\r\n\r\n" + content:
        wire.send(bytes([byte]))
    assert wire.receive().status == 201


def test_long_addresses_and_headers(wire: Wire, own: Headers) -> None:
    long = "x" * 60_000
    for target in (f"/api/v1/search?q={long}", f"/api/v1/rooms?{long}"):
        assert wire.ask("GET", target, own).outcome == "invalid_arguments"
    assert wire.ask("GET", f"/api/v1/rooms/{long}", own).outcome == "room_not_found"
    assert wire.ask("GET", "/api/v1/rooms", [*own, ("X", long)]).status == 200
    assert wire.ask("GET", f"/api/v1/{long}", own).outcome == "not_found"


def test_headers_without_end(wire: Wire) -> None:
    wire.send(b"GET /healthz HTTP/1.1\r\n")
    try:
        for _ in range(5000):
            wire.send(b"x: " + b"x" * 1000 + b"\r\n")
        assert wire.receive().status == 400
    except ConnectionError:
        return
    raise AssertionError("it took headers of 5 MB")


def test_thousands_of_fields(wire: Wire, own: Headers) -> None:
    query = "&".join(f"x{number}=1" for number in range(5000))
    reply = wire.ask("GET", f"/api/v1/rooms?{query}", own)
    assert reply.outcome == "invalid_arguments"
    assert _post(wire, own, b'{"messages": [' + b"{}," * 100_000 + b"{}]}").status == 400
    keys = b",".join(b'"k%d": 1' % number for number in range(50_000))
    assert _post(wire, own, b"{" + keys + b"}").status == 400


@pytest.mark.parametrize("brackets", [b"[" * 100_000, b'{"a":' * 100_000])
def test_deep_nesting(wire: Wire, own: Headers, brackets: bytes) -> None:
    assert _post(wire, own, brackets).outcome == "invalid_arguments"
    closed = brackets + b"1" + (b"]" if brackets[:1] == b"[" else b"}") * 100_000
    assert _post(wire, own, closed).outcome == "invalid_arguments"
    nested = b'{"messages": ' + b"[" * 1000 + b"]" * 1000 + b"}"
    assert _post(wire, own, nested).outcome == "invalid_arguments"


def test_connections_that_say_nothing(caller: Caller, own: Headers) -> None:
    """Or half a request, or half a body: others are served meanwhile."""
    begun = "".join(f"{name}: {value}\r\n" for name, value in own)
    half_body = f"POST /api/v1/rooms HTTP/1.1\r\n{begun}Content-Length: 9\r\n\r\nx"
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(caller)) for _ in range(300)]
        for number, one in enumerate(wires):
            one.send([b"", b"GET /api/v1/me HT", half_body.encode()][number % 3])
        assert caller.ok("POST", "/rooms/@active/messages", {"messages": [MESSAGE]})
        wires[1].send(f"TP/1.1\r\n{begun}\r\n".encode())
        assert wires[1].receive().status == 200
    assert caller.ok("POST", "/rooms/@active/messages", {"messages": [MESSAGE]})


MESSAGE = {"kind": "decision", "body": "still here"}
