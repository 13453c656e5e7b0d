"""The daemon as a hook asks it: a few requests over one connection, each with a short deadline."""

from __future__ import annotations

import json

# What `socket` is made of: that one takes as long to import as the daemon does to answer.
from _socket import AF_UNIX, SOCK_STREAM, socket
from time import monotonic

from ..addresses import UnixAddress, caller_headers, daemon_addresses, token
from ..wire import ResponseReader, WireError, request_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..addresses import Address
    from ..hosts.facts import Json

# Hosts are told to wait 10 s for a hook, which asks at most three times.
ANSWER_WITHIN_S = 2.0
RECEIVE_SIZE = 262_144
BASE = "/api/v1"

# Bodies of so many bytes are more than a context holds, and are quickly sent.
UNREAD = "/unread?limit=100&max_bytes=40000"


class AwayError(Exception):
    """There was no answer, or none of this protocol."""


class RefusedError(Exception):
    """The daemon said no. `code` is that of its problem document."""

    def __init__(self, problem: Json) -> None:
        super().__init__(f"{problem.get('detail')} {problem.get('recovery')}")
        self.code = problem.get("code")


class Daemon:
    """The daemon, asked in the name of `conversation`. `wake` tells it how that one is reached.

    A context manager. Raises ConfigurationError for settings that cannot be used.
    """

    def __init__(self, conversation: str, url: str | None, wake: str) -> None:
        self._addresses = daemon_addresses(url)
        # The one that is called.
        self.address: Address = self._addresses[0]
        bearer = None
        if not isinstance(self.address, UnixAddress):
            from ..tokens import kept_token_file

            bearer = token() or token(kept_token_file(self.address, conversation))
        self._headers = [
            ("Coordrooms-Wake", wake),
            *caller_headers(conversation, bearer),
        ]
        self._socket: socket | None = None

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def get(self, path: str, base: str = BASE) -> Json:
        return self._asked("GET", f"{base}{path}", None, ANSWER_WITHIN_S, None)

    def post(
        self,
        path: str,
        body: Json,
        within_s: float = ANSWER_WITHIN_S,
        pulse: Callable[[], None] | None = None,
    ) -> Json:
        """`pulse` is called every few seconds while the answer is awaited; it may raise."""
        return self._asked("POST", f"{BASE}{path}", json.dumps(body).encode(), within_s, pulse)

    def _asked(
        self,
        method: str,
        path: str,
        body: bytes | None,
        within_s: float,
        pulse: Callable[[], None] | None,
    ) -> Json:
        """The answer. Raises AwayError or RefusedError."""
        try:
            sock = self._socket or self._connected()
            headers = [("Host", self.address.host_header), *self._headers]
            if body is not None:
                headers.append(("Content-Type", "application/json"))
            answer = self._exchanged(
                sock, request_bytes(method, path, headers, body), within_s, pulse
            )
            document = json.loads(answer.take())
        except (OSError, WireError, ValueError, RecursionError) as fault:
            self.close()
            why = str(fault) or "it took too long"
            raise AwayError(f"no answer from the daemon at {self.address}: {why}") from fault
        if not isinstance(document, dict):
            raise AwayError(f"what answers at {self.address} is no coordroomsd")
        if answer.status >= 400:
            raise RefusedError(document)
        return document

    def _connected(self) -> socket:
        """A connection to the first daemon that is there, kept for further calls."""
        *others, last = self._addresses
        for self.address in others:
            try:
                self._socket = _connected(self.address)
            except OSError:
                continue
            return self._socket
        self.address = last
        self._socket = _connected(last)
        return self._socket

    def _exchanged(
        self, sock: socket, request: bytes, within_s: float, pulse: Callable[[], None] | None
    ) -> ResponseReader:
        sock.settimeout(ANSWER_WITHIN_S)
        sock.sendall(request)
        deadline = monotonic() + within_s
        answer = ResponseReader()
        while not answer.done:
            answer.feed(_received(sock, deadline, pulse))
        if not answer.reusable:
            self.close()
        return answer


def _received(sock: socket, deadline: float, pulse: Callable[[], None] | None) -> bytes:
    while True:
        left_s = deadline - monotonic()
        if left_s <= 0:
            raise TimeoutError
        sock.settimeout(left_s if pulse is None else min(left_s, ANSWER_WITHIN_S))
        try:
            return sock.recv(RECEIVE_SIZE)
        except TimeoutError:
            if pulse is not None:
                pulse()


def _connected(address: Address) -> socket:
    if not isinstance(address, UnixAddress):
        from socket import create_connection

        connected = create_connection((address.host, address.port), ANSWER_WITHIN_S)
        if not address.tls:
            return connected
        import ssl

        return ssl.create_default_context().wrap_socket(connected, server_hostname=address.host)
    sock = socket(AF_UNIX, SOCK_STREAM)
    try:
        sock.settimeout(ANSWER_WITHIN_S)
        sock.connect(address.path)
    except OSError:
        sock.close()
        raise
    return sock
