"""Both ends of a relay, held by a test: the host's pipes and a daemon that does as it is told."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from coordrooms.relay_loop import Relay
from coordrooms.relay_streams import Daemon, Host

DEADLINE_S = 10.0
VERSION = "2025-06-18"
HELLO = {"coordrooms": 1, "conversation": "ann-1", "client_pid": 7}
INITIALIZE = {
    "protocolVersion": VERSION,
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
Message = dict[str, Any]


class End:
    """One end of a stream of lines."""

    def __init__(self, reads: int, writes: int) -> None:
        self.reads, self.writes = reads, writes
        self._buffer = b""

    def send_raw(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.writes, data) :]

    def send(self, message: Message) -> Message:
        self.send_raw(json.dumps(message).encode() + b"\n")
        return message

    def receive_raw(self) -> bytes:
        """The next line, without its end. Raises EOFError when there will be none."""
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([self.reads], [], [], DEADLINE_S)
            assert readable, f"nothing came within {DEADLINE_S} s"
            try:
                data = os.read(self.reads, 1 << 20)
            except ConnectionResetError:
                data = b""
            if not data:
                raise EOFError
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def receive(self) -> Message:
        message: Message = json.loads(self.receive_raw())
        return message


class HostEnd(End):
    """What an agent's host does; `relay` is the thread that serves it."""

    def __init__(self, reads: int, writes: int, relay: threading.Thread) -> None:
        super().__init__(reads, writes)
        self.relay = relay

    def request(self, request_id: object, method: str, params: Message | None = None) -> Message:
        message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        return self.send(message if params is None else message | {"params": params})

    def call(self, request_id: object, tool: str, **arguments: Any) -> Message:
        return self.request(request_id, "tools/call", {"name": tool, "arguments": arguments})

    def notify(self, method: str, **params: Any) -> Message:
        return self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def introduce(self) -> None:
        self.request("hello", "initialize", INITIALIZE)
        assert self.receive()["result"]["protocolVersion"] == VERSION
        self.notify("notifications/initialized")

    def failure(self) -> Message:
        """The next line, which must be a tool's failure."""
        answer = self.receive()
        result = answer["result"]
        assert result["isError"] is True
        [content] = result["content"]
        assert json.loads(content["text"]) == result["structuredContent"]
        failure: Message = result["structuredContent"]
        assert failure["message"].strip()
        assert failure["recovery"].strip()
        return failure | {"id": answer["id"]}


class DaemonEnd(End):
    """One connection that the relay made."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection.fileno(), connection.fileno())
        self._connection = connection

    def greeted(self) -> DaemonEnd:
        """Take the hello and the handshake, and check them."""
        assert self.receive() == HELLO
        initialize = self.receive()
        assert (initialize["method"], initialize["params"]) == ("initialize", INITIALIZE)
        assert self.receive()["method"] == "notifications/initialized"
        self.send({"jsonrpc": "2.0", "id": initialize["id"], "result": {}})
        return self

    def answer(self, request: Message, **result: Any) -> Message:
        return self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def close(self) -> None:
        self._connection.close()


class Listener:
    """A daemon's MCP socket, which a test opens and closes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._socket: socket.socket | None = None
        self._accepted: list[DaemonEnd] = []

    def open(self) -> Listener:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self.path))
        self._socket.listen()
        self._socket.settimeout(DEADLINE_S)
        return self

    def accept(self) -> DaemonEnd:
        assert self._socket is not None
        connection, _ = self._socket.accept()
        connection.setblocking(True)
        self._accepted.append(DaemonEnd(connection))
        return self._accepted[-1]

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            self.path.unlink()

    def discard(self) -> None:
        """Close everything that is open."""
        self.close()
        for connection in self._accepted:
            connection.close()


def relayed(path: Path) -> AbstractContextManager[HostEnd]:
    """A relay between the host end that this gives and the socket at `path`."""
    return hosted(lambda host: Relay(host, partial(Daemon, str(path)), str(path), HELLO))


@contextlib.contextmanager
def hosted(relay: Callable[[Host], Relay]) -> Iterator[HostEnd]:
    """The host's end of what `relay` makes."""
    to_relay, from_host = os.pipe()
    to_host, from_relay = os.pipe()
    thread = threading.Thread(target=relay(Host(to_relay, from_relay)).run)
    thread.start()
    host = HostEnd(to_host, from_host, thread)
    try:
        yield host
    finally:
        os.close(from_host)
        thread.join(DEADLINE_S)
        for fd in (to_relay, to_host, from_relay):
            os.close(fd)
        assert not thread.is_alive(), "the relay outlived its host"
