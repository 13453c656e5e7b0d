"""Callers of a daemon that listens on TCP too: with or without a token, as this user or another."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import select
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.acceptance.daemons import Daemon
from tests.daemon_processes import WITHOUT_LIMITS
from tests.polling import GIVE_UP_AFTER_S
from tests.postgres_servers import free_port

Json = dict[str, Any]

_addresses = itertools.count(2)


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Json:
        value: Json = json.loads(self.content)
        return value

    @property
    def outcome(self) -> int | str:
        """The status, or a refusal's code."""
        return self.status if self.status < 400 else self.body["code"]


class ListeningDaemon(Daemon):
    """`host` is an address as in a URL; `config` follows what switches limits off in its file."""

    def __init__(self, host: str = "127.0.0.1", config: str = "") -> None:
        super().__init__()
        self.host = host
        self.port = free_port()
        self.connections: dict[Caller, http.client.HTTPConnection] = {}
        file = self.state_dir / "config.toml"
        file.write_text(WITHOUT_LIMITS + config)
        self.options = ["--config", str(file), "--listen", f"{host}:{self.port}"]

    def start(self) -> None:
        self._hang_up()
        super().start()

    def discard(self) -> None:
        self._hang_up()
        super().discard()

    def _hang_up(self) -> None:
        for connection in self.connections.values():
            connection.close()
        self.connections.clear()

    @property
    def operator(self) -> Caller:
        """Whoever runs it, over the socket."""
        return Caller(self)

    def agent(self, name: str) -> Caller:
        """An agent over the socket."""
        return Caller(self, name)

    def enrol(self, name: str, role: str, project: str | None = None) -> Caller:
        """The holder of a new token, over TCP."""
        kind = "human" if role == "human" else "agent"
        offer = {"name": name, "kind": kind, "role": role} | (
            {"project": project} if project else {}
        )
        code = self.operator.ok("POST", "/enrollments", offer)["code"]
        enrolled = Caller(self, over="tcp").ok("POST", "/enroll", {"code": code})
        return Caller(self, over="tcp", token=enrolled["token"])


@dataclass(frozen=True)
class Caller:
    """Makes calls under `name`, if it has one. As another user of the host it needs to be root."""

    daemon: ListeningDaemon = field(repr=False)
    name: str | None = None
    over: str = "socket"
    token: str | None = field(default=None, repr=False)
    uid: int | None = None

    def over_socket(self) -> Caller:
        return replace(self, over="socket")

    def headers(self) -> dict[str, str]:
        return {
            name: value
            for name, value in (
                ("Coordrooms-Conversation", self.name),
                ("Authorization", self.token and f"Bearer {self.token}"),
            )
            if value
        }

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        base: str = "/api/v1",
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Reply:
        sent = self.headers() | dict(headers or {})
        content = None
        if body is not None:
            content = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        if query:
            path += f"?{urlencode(query, doseq=True)}"
        connection = self.kept_connection()
        connection.request(method, base + path, content, sent)
        response = connection.getresponse()
        return Reply(response.status, dict(response.headers), response.read())

    def ok(self, method: str, path: str, body: Any = None, **further: Any) -> Json:
        """The answer to a call that succeeds."""
        reply = self.call(method, path, body, **further)
        assert reply.status < 300, reply.content
        return reply.body

    def kept_connection(self) -> http.client.HTTPConnection:
        """The one of its last call, unless the daemon has closed that meanwhile."""
        kept = self.daemon.connections.get(self)
        if kept is not None and kept.sock is not None:
            # Between two calls there is nothing to read but an end.
            if not select.select([kept.sock], [], [], 0)[0]:
                return kept
            kept.close()
        connection = self.daemon.connections[self] = self.connection()
        return connection

    def connection(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(self.daemon.host, self.daemon.port)
        with _as_user(self.uid):
            connection.sock = self.connect()
        return connection

    def connect(self) -> socket.socket:
        if self.over == "socket":
            connected = socket.socket(socket.AF_UNIX)
            connected.connect(str(self.daemon.socket))
        else:
            # Enrolling has a bucket for each address: every connection comes from one of its own.
            number = next(_addresses)
            source = f"127.{1 + number // 62500}.{number // 250 % 250}.{1 + number % 250}"
            address = (self.daemon.host, self.daemon.port)
            connected = socket.create_connection(address, source_address=(source, 0))
        connected.settimeout(GIVE_UP_AFTER_S)
        return connected


@contextmanager
def _as_user(uid: int | None) -> Iterator[None]:
    """The kernel notes the effective user of whoever connects."""
    if uid is None:
        yield
        return
    before = os.geteuid()
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(before)
