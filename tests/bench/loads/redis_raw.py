"""Redis Streams through a client as lean as the one that measures the daemon: bare sockets."""

from __future__ import annotations

import select
import socket
import time
from typing import Any

from tests.bench.loads.talk import asked, say
from tests.bench.wires import connect

_CHUNK = 65_536


def _command(*words: str | bytes) -> bytes:
    encoded = [word.encode() if isinstance(word, str) else word for word in words]
    parts = [b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded]
    return b"*%d\r\n%s" % (len(encoded), b"".join(parts))


def _receive(connection: socket.socket, end: bytes) -> bytes:
    """A reply that ends so. One that begins with `-` is Redis's refusal."""
    received = connection.recv(_CHUNK)
    while not received.endswith(end):
        received += connection.recv(_CHUNK)
    if received.startswith(b"-"):
        raise ConnectionError(received.decode())
    return received


def _lone(ask: Any) -> None:
    writer, reader = connect(ask["address"]), connect(ask["address"])
    stream, body = ask["stream"], ask["body"]
    add = _command("XADD", stream, "*", "body", body)
    end = b"%s\r\n" % body.encode()
    last = b"0"
    seconds = []
    for _ in range(ask["count"]):
        reader.sendall(_command("XREAD", "BLOCK", "60000", "STREAMS", stream, last))
        while not _has_reader(writer):
            pass
        began = time.perf_counter()
        writer.sendall(add)
        _receive(reader, end)
        seconds.append(time.perf_counter() - began)
        last = _receive(writer, b"\r\n").split(b"\r\n")[1]
    say(seconds)


def _has_reader(writer: socket.socket) -> bool:
    writer.sendall(_command("INFO", "clients"))
    return b"blocked_clients:1" in _receive(writer, b"\r\n")


def _callers(ask: Any) -> None:
    """Messages a second of so many callers, each on a connection of its own."""
    poll = select.epoll()
    connections: dict[int, tuple[socket.socket, bytes]] = {}
    missing: dict[int, int] = {}
    for number in range(ask["callers"]):
        connection = connect(ask["address"])
        add = _command(
            "XADD", f"{ask['stream']}-{number % ask['streams']}", "*", "body", ask["body"]
        )
        if ask["batch"] > 1:
            add = _command("MULTI") + add * ask["batch"] + _command("EXEC")
        connections[connection.fileno()] = connection, add
        poll.register(connection.fileno(), select.EPOLLIN)
    # A reply's lines: an id is two of them; a transaction is OK, the QUEUED, and an array of ids.
    lines = 2 if ask["batch"] == 1 else 2 + 3 * ask["batch"]
    began = time.perf_counter()
    for descriptor, (connection, add) in connections.items():
        connection.sendall(add)
        missing[descriptor] = lines
    sent, until = 0, began + ask["seconds"]
    while missing:
        for descriptor, _ in poll.poll():
            connection, add = connections[descriptor]
            missing[descriptor] -= connection.recv(_CHUNK).count(b"\n")
            if missing[descriptor]:
                continue
            sent += ask["batch"]
            if time.perf_counter() < until:
                connection.sendall(add)
                missing[descriptor] = lines
            else:
                del missing[descriptor]
    say([sent / (time.perf_counter() - began)])


if __name__ == "__main__":
    # Asked: as in redis_client.
    asking = asked()
    {"lone": _lone, "callers": _callers}[asking["do"]](asking)
