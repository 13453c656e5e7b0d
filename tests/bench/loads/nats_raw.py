"""NATS JetStream through a client as lean as the one that measures the daemon: bare sockets."""

from __future__ import annotations

import json
import select
import socket
import time
from typing import Any

from tests.bench.loads.talk import asked, say

_CHUNK = 65_536


class _Connection:
    """One connection; `inbox` is where its requests are answered."""

    def __init__(self, address: str, number: int) -> None:
        host, _, port = address.partition(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.inbox = f"inbox.{number}.{time.monotonic_ns()}"
        self.socket.recv(_CHUNK)
        self.socket.sendall(
            b'CONNECT {"verbose":false,"pedantic":false,"lang":"raw","version":"1"}\r\n'
            b"SUB %s 1\r\nPING\r\n" % self.inbox.encode()
        )
        self.until(b"PONG\r\n")

    def publish(self, subject: str, body: bytes) -> bytes:
        head = f"PUB {subject} {self.inbox} {len(body)}\r\n".encode()
        return head + body + b"\r\n"

    def until(self, end: bytes) -> bytes:
        received = self.socket.recv(_CHUNK)
        while not received.endswith(end):
            received += self.socket.recv(_CHUNK)
        return received

    def ask(self, subject: str, content: Any) -> None:
        """Raises ConnectionError when JetStream refuses."""
        self.socket.sendall(self.publish(subject, json.dumps(content).encode()))
        answer = self.until(b"}\r\n")
        if b'"error"' in answer:
            raise ConnectionError(answer.decode())

    def make_stream(self, name: str) -> None:
        stream = {"name": name, "subjects": [name], "storage": "file", "retention": "limits"}
        self.ask(f"$JS.API.STREAM.CREATE.{name}", stream | {"discard": "old", "num_replicas": 1})

    def delete_stream(self, name: str) -> None:
        self.ask(f"$JS.API.STREAM.DELETE.{name}", {})


def _lone(ask: Any) -> None:
    stream, body = ask["stream"], ask["body"].encode()
    writer, reader = _Connection(ask["address"], 1), _Connection(ask["address"], 2)
    writer.make_stream(stream)
    delivery = f"delivery.{stream}"
    consumer = {"deliver_subject": delivery, "deliver_policy": "all", "ack_policy": "none"}
    writer.ask(f"$JS.API.CONSUMER.CREATE.{stream}", {"stream_name": stream, "config": consumer})
    reader.socket.sendall(b"SUB %s 2\r\nPING\r\n" % delivery.encode())
    reader.until(b"PONG\r\n")
    publish, end = writer.publish(stream, body), body + b"\r\n"
    seconds = []
    for _ in range(ask["count"]):
        began = time.perf_counter()
        writer.socket.sendall(publish)
        reader.until(end)
        seconds.append(time.perf_counter() - began)
        writer.until(b"}\r\n")
    writer.delete_stream(stream)
    say(seconds)


def _callers(ask: Any) -> None:
    """Messages a second of so many callers, each on a connection of its own."""
    connections = [_Connection(ask["address"], number) for number in range(ask["callers"])]
    streams = [f"{ask['stream']}-{number}" for number in range(ask["streams"])]
    for stream in streams:
        connections[0].make_stream(stream)
    poll = select.epoll()
    calls: dict[int, tuple[socket.socket, bytes]] = {}
    for number, connection in enumerate(connections):
        publish = connection.publish(streams[number % len(streams)], ask["body"].encode())
        calls[connection.socket.fileno()] = connection.socket, publish
        poll.register(connection.socket.fileno(), select.EPOLLIN)
    began = time.perf_counter()
    for client, publish in calls.values():
        client.sendall(publish)
    sent, until, waiting = 0, began + ask["seconds"], len(calls)
    while waiting:
        for descriptor, _ in poll.poll():
            client, publish = calls[descriptor]
            if not client.recv(_CHUNK).endswith(b"}\r\n"):
                continue
            sent += 1
            if time.perf_counter() < until:
                client.sendall(publish)
            else:
                waiting -= 1
    elapsed = time.perf_counter() - began
    for connection in connections:
        poll.unregister(connection.socket.fileno())
    for stream in streams:
        connections[0].delete_stream(stream)
    say([sent / elapsed])


if __name__ == "__main__":
    # Asked: as in nats_client.
    asking = asked()
    {"lone": _lone, "callers": _callers}[asking["do"]](asking)
