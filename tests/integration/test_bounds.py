"""What one caller may take of the daemon, over raw sockets; and that others go on meanwhile."""

from __future__ import annotations

import contextlib
import json
import re
import socket
from collections.abc import Iterator

import pytest

from tests.acceptance.daemons import running
from tests.integration.callers import Caller, ListeningDaemon
from tests.integration.wires import Wire
from tests.polling import GIVE_UP_AFTER_S, block_until

PER_PEER, WAITS_EACH = 8, 2
CONFIG = f"""
max_connections_per_peer = {PER_PEER}
max_waiters_per_participant = {WAITS_EACH}
request_within_s = 1
answer_within_s = 1
"""
LARGE = {"messages": [{"kind": "decision", "body": "x" * 60_000}] * 15}


@pytest.fixture(scope="module")
def daemon() -> Iterator[ListeningDaemon]:
    with running(ListeningDaemon(config=CONFIG)) as daemon:
        yield daemon
        assert "Traceback" not in daemon.log()


@pytest.fixture(scope="module")
def ann(daemon: ListeningDaemon) -> Caller:
    """Over TCP, and well-behaved."""
    ann = daemon.enrol("ann", "agent")
    ann.ok("POST", "/rooms", {"name": "plan"})
    for _ in range(6):
        ann.ok("POST", "/rooms/plan/messages", LARGE)
    return ann


@pytest.fixture(scope="module")
def eve(daemon: ListeningDaemon, ann: Caller) -> Caller:
    eve = daemon.agent("eve")
    eve.ok("POST", "/rooms/plan/join")
    hang_up(eve)
    hang_up(daemon.operator)
    return eve


def request(
    caller: Caller, target: str, method: str = "GET", body: bytes = b"", length: int | None = None
) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{caller.daemon.port}"]
    lines += [f"{name}: {value}" for name, value in caller.headers().items()]
    lines += ["Content-Type: application/json", "Accept: application/json, text/event-stream"]
    lines += [f"Content-Length: {len(body) if length is None else length}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def counted(ann: Caller, name: str) -> float:
    text = ann.call("GET", "/metrics", base="").content.decode()
    match = re.search(rf"^coordrooms_{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert match, text
    return float(match[1])


def hang_up(caller: Caller) -> None:
    """Its connection is one of the many no more."""
    caller.kept_connection().close()


def goes_on(ann: Caller) -> None:
    assert ann.call("GET", "/rooms/plan/messages?limit=1").status == 200


def test_connections_of_one_user(ann: Caller, eve: Caller) -> None:
    # Ann's, and the one that she was enrolled over.
    block_until(lambda: counted(ann, 'connections{protocol="http"}') == 2)
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(eve)) for _ in range(PER_PEER)]
        for wire in wires:
            wire.send(request(eve, "/api/v1/me"))
            assert wire.receive().status == 200
        with Wire(eve) as another:
            another.send(b"")
            refused = another.receive()
        assert refused.outcome == "too_many_waiters"
        assert "retry-after: 5" in refused.head.lower()
        # The sockets of MCP are among them.
        with mcp(eve) as session:
            answer = json.loads(session.recv(65536))
        assert answer["error"]["data"]["code"] == "too_many_waiters"
        goes_on(ann)
        wires[0].send(request(eve, "/api/v1/me"))
        assert wires[0].receive().status == 200
    assert counted(ann, 'dropped_connections_total{why="many"}') == 2
    block_until(lambda: eve.call("GET", "/me").status == 200)
    hang_up(eve)


def test_waits_of_one_participant(ann: Caller, eve: Caller) -> None:
    wait = request(eve, "/api/v1/rooms/plan/wait?timeout_s=60&wake_on=status")
    with contextlib.ExitStack() as stack:
        for _ in range(WAITS_EACH):
            stack.enter_context(Wire(eve)).send(wait)
        block_until(lambda: counted(ann, "waiters") == WAITS_EACH)
        for target in ("wait?timeout_s=60", "events"):
            with Wire(eve) as another:
                another.send(request(eve, f"/api/v1/rooms/plan/{target}"))
                refused = another.receive()
            assert refused.outcome == "too_many_waiters"
            assert "retry-after:" in refused.head.lower()
        with Wire(ann) as other:
            other.send(request(ann, "/api/v1/rooms/plan/wait?timeout_s=0.1"))
            assert other.receive().body["reason"] == "timeout"
    block_until(lambda: counted(ann, "waiters") == 0)


@pytest.mark.parametrize(
    "begun",
    ["GET /api/v1/me HT", "POST /mcp", "POST /api/v1/rooms"],
    ids=["headers", "a body of another kind", "a call's body"],
)
def test_a_request_that_does_not_come_to_an_end(ann: Caller, eve: Caller, begun: str) -> None:
    method, target, *rest = begun.split()
    said = begun.encode() if rest else request(eve, target, method, b"{", length=9)
    with Wire(eve) as wire:
        wire.send(said)
        goes_on(ann)
        if target.startswith("/api/v1/rooms"):
            assert wire.receive().outcome == "invalid_arguments"
        else:
            before = counted(ann, 'dropped_connections_total{why="slow_sender"}')
            assert wire.rest() == b""
            name = 'dropped_connections_total{why="slow_sender"}'
            assert counted(ann, name) in (before, before + 1)
            assert counted(ann, name) >= 1
    goes_on(ann)


@pytest.mark.parametrize("target", ["messages?limit=1000", "events?after_seq=0"])
def test_an_answer_that_is_not_read(ann: Caller, eve: Caller, target: str) -> None:
    name = 'dropped_connections_total{why="slow_reader"}'
    before = counted(ann, name)
    with Wire(eve) as wire:
        wire.send(request(eve, f"/api/v1/rooms/plan/{target}"))
        block_until(lambda: counted(ann, name) == before + 1)
        goes_on(ann)
        with contextlib.suppress(ConnectionError):
            assert len(wire.rest()) < 5_000_000
    assert counted(ann, "unread_bytes") == 0
    assert counted(ann, "streams") == 0


def test_a_reader_of_tools_that_does_not_read(ann: Caller, eve: Caller) -> None:
    call = {
        "name": "list_room_messages",
        "arguments": {"conversationId": "eve", "room": "plan", "limit": 100},
    }
    name = 'dropped_connections_total{why="slow_reader"}'
    before = counted(ann, name)
    with mcp(eve) as session:
        client = {"name": "eve", "version": "1"}
        greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        say(session, {"id": 1, "method": "initialize", "params": greeting})
        assert b'"serverInfo"' in session.recv(65536)
        say(session, {"method": "notifications/initialized"})
        session.setblocking(False)
        with contextlib.suppress(OSError):
            for number in range(1000):
                say(session, {"id": number + 2, "method": "tools/call", "params": call})
        session.settimeout(GIVE_UP_AFTER_S)
        block_until(lambda: counted(ann, name) == before + 1)
        goes_on(ann)
        received = b""
        with contextlib.suppress(ConnectionError):
            while data := session.recv(1 << 20):
                received += data
    assert len(received) < 10_000_000


@contextlib.contextmanager
def mcp(caller: Caller) -> Iterator[socket.socket]:
    path = str(caller.daemon.socket).replace(".sock", "-mcp.sock")
    with socket.socket(socket.AF_UNIX) as session:
        session.settimeout(GIVE_UP_AFTER_S)
        session.connect(path)
        yield session


def say(session: socket.socket, message: dict[str, object]) -> None:
    session.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
