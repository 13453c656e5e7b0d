"""A connection on which a test says exactly which bytes go out."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import NamedTuple

import orjson

from tests.integration.callers import Caller, Json
from tests.polling import GIVE_UP_AFTER_S

Headers = list[tuple[str, str]]


class Reply(NamedTuple):
    status: int
    head: str
    content: bytes

    @property
    def outcome(self) -> int | str:
        """The status, or a refusal's code."""
        return self.status if self.status < 400 else self.body["code"]

    @property
    def body(self) -> Json:
        value: Json = orjson.loads(self.content)
        return value


class Wire:
    """Stays open as long as the other end lets it; opens anew for the next request after that."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._socket: socket.socket | None = None

    def __enter__(self) -> Wire:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def connect_to(self, address: tuple[str, int]) -> None:
        """Another address than the caller's."""
        self._socket = socket.create_connection(address, timeout=GIVE_UP_AFTER_S)

    def send(self, data: bytes) -> None:
        if self._socket is None:
            self._socket = self._caller.connect()
        self._socket.sendall(data)

    def receive(self) -> Reply:
        """One answer that has a length."""
        head = self._until(b"\r\n\r\n")
        lines = head.decode("latin-1").lower().splitlines()
        fields = dict(line.split(": ", 1) for line in lines[1:] if line)
        content = self._exactly(int(fields["content-length"]))
        if fields.get("connection") == "close":
            assert self._read(1) == b"", "something after the last answer"
            self.close()
        return Reply(int(lines[0].split()[1]), head.decode("latin-1"), content)

    def ask(self, method: str, target: str, headers: Headers, content: bytes = b"") -> Reply:
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
        if content:
            lines.append(f"Content-Length: {len(content)}")
        self.send("\r\n".join([*lines, "", ""]).encode("latin-1") + content)
        return self.receive()

    def rest(self) -> bytes:
        """Everything until the other end closes."""
        found = b""
        while data := self._read(65536):
            found += data
        return found

    def _until(self, end: bytes) -> bytes:
        found = b""
        while not found.endswith(end):
            found += self._some(1)
        return found

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            found += self._some(size - len(found))
        return found

    def _some(self, size: int) -> bytes:
        data = self._read(size)
        assert data, "closed in the middle of an answer"
        return data

    def _read(self, size: int) -> bytes:
        assert self._socket is not None
        return self._socket.recv(size)
