"""The relay's way over HTTP, in front of a server that does as a test says."""

from __future__ import annotations

import base64
import contextlib
import json
import queue
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from coordrooms.addresses import TcpAddress
from coordrooms.relay_calls import WAITED_KEY
from coordrooms.relay_http import HttpDaemon
from coordrooms.relay_loop import Relay
from coordrooms.relay_streams import Host
from tests.unit.client.relay_ends import DEADLINE_S, HELLO, MODERN, HostEnd, Message, hosted

CALLER = [("Coordrooms-Conversation", "ann-1"), ("Authorization", "Bearer secret")]


class Exchange:
    """One request, which a test answers in its own time."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self.headers = handler.headers
        self.path = handler.path
        self.message: Message = json.loads(handler.rfile.read(int(self.headers["Content-Length"])))
        self._handler = handler
        self.ended = threading.Event()

    def reply(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self._handler.send_response(status)
        self._handler.send_header("Content-Type", kind)
        self._handler.send_header("Content-Length", str(len(body)))
        self._handler.end_headers()
        self._handler.wfile.write(body)
        self.ended.set()

    def answer(self, **result: Any) -> Message:
        message = {"jsonrpc": "2.0", "id": self.message["id"], "result": result}
        self.reply(200, json.dumps(message).encode())
        return message

    def stream(self, *messages: Message) -> None:
        events = "".join(f"event: message\r\ndata: {json.dumps(m)}\r\n\r\n" for m in messages)
        self.reply(200, (": ping\r\n\r\n" + events).encode(), "text/event-stream")

    def break_off(self) -> None:
        """Close the connection without an answer."""
        self.ended.set()

    def wait_for_the_clients_end(self) -> None:
        self._handler.connection.settimeout(DEADLINE_S)
        assert self._handler.rfile.read(1) == b""
        self.ended.set()


class Server(ThreadingHTTPServer):
    """Hands its requests to a test."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        self.exchanges: queue.Queue[Exchange] = queue.Queue()
        super().__init__(("127.0.0.1", port), _Handler)
        self.thread = threading.Thread(target=partial(self.serve_forever, poll_interval=0.01))
        self.thread.start()

    @property
    def address(self) -> TcpAddress:
        return TcpAddress("127.0.0.1", self.server_port)

    def next(self) -> Exchange:
        return self.exchanges.get(timeout=DEADLINE_S)

    def close(self) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Server)
        exchange = Exchange(self)
        self.server.exchanges.put(exchange)
        assert exchange.ended.wait(DEADLINE_S)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def host(server: Server) -> Iterator[HostEnd]:
    with relayed(server.address) as host:
        yield host


@contextlib.contextmanager
def relayed(address: TcpAddress, hello: Message = HELLO) -> Iterator[HostEnd]:
    def relay(ours: Host) -> Relay:
        return Relay(ours, partial(HttpDaemon, address, CALLER), str(address), hello)

    with hosted(relay) as host:
        yield host


def test_a_call_is_a_modern_request_of_the_caller(host: HostEnd, server: Server) -> None:
    host.introduce()
    call = host.call(1, "join_room", roomName="ä")
    exchange = server.next()
    assert exchange.path == "/mcp"
    assert dict(CALLER).items() <= dict(exchange.headers).items()
    assert exchange.headers["MCP-Protocol-Version"] == "2026-07-28"
    assert exchange.headers["Mcp-Method"] == "tools/call"
    assert exchange.headers["Mcp-Name"] == "join_room"
    assert exchange.message["params"].pop("_meta") == MODERN
    assert exchange.message == call
    exchange.answer(structuredContent={"result": 1}, resultType="complete", _meta={"a": 1})
    # The host shook hands, so it is answered as one that did.
    assert host.receive()["result"] == {"structuredContent": {"result": 1}}


def test_a_modern_host_is_answered_as_it_asked(host: HostEnd, server: Server) -> None:
    meta = MODERN | {"progressToken": 7}
    call = host.request(1, "tools/call", {"name": "wait", "_meta": meta})
    exchange = server.next()
    assert exchange.message == call
    assert exchange.answer(resultType="complete") == host.receive()


def test_a_stream_passes_event_by_event(host: HostEnd, server: Server) -> None:
    host.introduce()
    host.call("w", "wait")
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 15}}
    server.next().stream(progress, {"jsonrpc": "2.0", "id": "w", "result": {"content": []}})
    assert host.receive() == progress
    assert host.receive()["id"] == "w"


def test_calls_do_not_wait_for_each_other(host: HostEnd, server: Server) -> None:
    host.introduce()
    host.call(1, "wait")
    waiting = server.next()
    host.call(2, "list_active_rooms")
    server.next().answer()
    assert host.receive()["id"] == 2
    waiting.answer()
    assert host.receive()["id"] == 1


def test_a_cancelled_call_is_closed(host: HostEnd, server: Server) -> None:
    host.introduce()
    host.call(1, "wait")
    exchange = server.next()
    host.notify("notifications/cancelled", requestId=1)
    exchange.wait_for_the_clients_end()
    host.request(2, "ping")
    assert host.receive()["id"] == 2


def test_the_users_longest_wait_goes_along(server: Server) -> None:
    with relayed(server.address, HELLO | {"max_wait_s": 25}) as host:
        host.introduce()
        host.call(1, "wait")
        exchange = server.next()
        assert exchange.message["params"]["_meta"]["coordrooms/max_wait_s"] == 25
        exchange.answer()
        host.receive()


def test_a_restart_repeats_what_can_be_repeated(host: HostEnd, server: Server) -> None:
    host.introduce()
    host.call(1, "wait")
    host.call(2, "create_room", roomName="r")
    exchanges = {exchange.message["id"]: exchange for exchange in (server.next(), server.next())}
    exchanges[2].break_off()
    failure = host.failure()
    assert (failure["id"], failure["code"]) == (2, "daemon_restarted")
    exchanges[1].wait_for_the_clients_end()
    again = server.next()
    assert again.message["params"]["_meta"][WAITED_KEY] > 0
    again.answer()
    assert host.receive()["id"] == 1


def test_a_daemon_that_stops_is_asked_again(host: HostEnd, server: Server) -> None:
    host.introduce()
    host.call(1, "wait")
    server.next().reply(503, b"{}", "application/problem+json")
    server.next().answer()
    assert host.receive()["id"] == 1


def test_without_a_daemon_each_call_says_so() -> None:
    server = Server()
    server.close()
    with relayed(server.address) as host:
        host.introduce()
        host.call(1, "list_active_rooms")
        failure = host.failure()
    assert failure["code"] == "daemon_unreachable"
    assert str(server.address) in failure["message"]


def test_a_refusal_before_the_tools_is_a_failure(host: HostEnd, server: Server) -> None:
    host.introduce()
    host.call(1, "wait")
    problem = {"code": "unauthorized", "detail": "No such token.", "recovery": "Enrol."}
    server.next().reply(401, json.dumps(problem).encode(), "application/problem+json")
    assert host.failure() == {
        "id": 1,
        "code": "unauthorized",
        "message": "No such token.",
        "recovery": "Enrol.",
    }


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"code":1}'])
def test_what_speaks_no_mcp_is_named(host: HostEnd, server: Server, body: bytes) -> None:
    host.introduce()
    host.call(1, "wait")
    server.next().reply(404, body, "text/html")
    failure = host.failure()
    assert failure["code"] == "daemon_unreachable"
    assert "404" in failure["message"]


def test_an_error_of_the_protocol_passes(host: HostEnd, server: Server) -> None:
    host.introduce()
    host.request(1, "prompts/list")
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "No."}}
    server.next().reply(404, json.dumps(error).encode())
    assert host.receive() == error | {"id": 1}


@pytest.mark.parametrize("name", ["naïve", "a\r\nHost: evil", " a "])
def test_a_name_that_no_header_can_carry_is_encoded(
    host: HostEnd, server: Server, name: str
) -> None:
    host.introduce()
    host.call(1, name)
    exchange = server.next()
    encoded = exchange.headers["Mcp-Name"].removeprefix("=?base64?").removesuffix("?=")
    assert base64.b64decode(encoded).decode() == name
    exchange.answer()
    host.receive()
