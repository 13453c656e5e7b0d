"""A daemon that is a list of outcomes, and a front whose time is a number: no I/O, no waiting."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlsplit

from coordrooms.addresses import UnixAddress, parse_url
from coordrooms.calls import Connect, Pause, Program, Receive, Send, Step, Work
from coordrooms.sessions import Session

T = TypeVar("T")


class Request(NamedTuple):
    """A request as the daemon sees it."""

    method: str
    path: str
    query: list[tuple[str, str]]
    headers: Mapping[str, str]
    body: Any

    @property
    def key(self) -> str | None:
        return self.headers.get("idempotency-key")


class Unreachable(NamedTuple):
    """The connection cannot be opened."""

    error: OSError = ConnectionRefusedError(111, "Connection refused")


class Pieces(NamedTuple):
    """What is received for a request: bytes, `b""` for the end, or an error. Then silence."""

    pieces: tuple[bytes | OSError, ...]
    parked_s: float = 0.0


LOST = Pieces((b"",))


def reply(document: Any, status: int = 200, /, parked_s: float = 0.0, **headers: str) -> Pieces:
    """A JSON answer; `retry_after="2"` is the header Retry-After."""
    return Pieces((reply_bytes(document, status, **headers),), parked_s)


def reply_bytes(document: Any, status: int = 200, /, **headers: str) -> bytes:
    body = json.dumps(document).encode()
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def problem(code: str, status: int, /, parked_s: float = 0.0, **extra: Any) -> Pieces:
    """A refusal. `retry_after` becomes the header."""
    headers = {"retry_after": str(extra.pop("retry_after"))} if "retry_after" in extra else {}
    document = {
        "type": f"urn:coordrooms:{code}",
        "title": code,
        "status": status,
        "code": code,
        "detail": f"It is {code}.",
        "recovery": "Do something else.",
        **extra,
    }
    return reply(document, status, parked_s=parked_s, **headers)


def parsed_request(data: bytes) -> Request:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    where = urlsplit(target)
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    assert int(headers.get("content-length", "0")) == len(body)
    return Request(
        method,
        where.path.removeprefix("/api/v1"),
        parse_qsl(where.query, keep_blank_values=True, strict_parsing=bool(where.query)),
        headers,
        json.loads(body) if body else None,
    )


class ScriptedConnection:
    def __init__(self) -> None:
        self.closed = False
        self.incoming: deque[bytes | OSError] = deque()

    def close(self) -> None:
        self.closed = True


class Scripted:
    """Drives programs against `script`: one outcome for each connection refused or request sent."""

    def __init__(self, *script: Unreachable | Pieces) -> None:
        self.script = deque(script)
        self.now = 1000.0
        self.pauses: list[float] = []
        self.requests: list[Request] = []
        self.connections: list[ScriptedConnection] = []
        # Where it was tried to connect to.
        self.tried: list[str] = []

    def session(self, **settings: Any) -> Session:
        return Session(UnixAddress("/run/d.sock"), "ann-1", clock=lambda: self.now, **settings)

    def session_of(self, *urls: str, **settings: Any) -> Session:
        """One with several daemons."""
        addresses = [parse_url(url) for url in urls]
        return Session(addresses, "ann-1", clock=lambda: self.now, **settings)

    def run(self, session: Session, work: Work[T]) -> T:
        """Drive `work` to its end, which must need all of the script and no more."""
        result = self.drive(session.run(work))
        assert not self.script, f"not needed: {list(self.script)}"
        return result

    def drive(self, steps: Program[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    result = self._take(step)
                except OSError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration as stop:
            value: T = stop.value
            return value
        finally:
            steps.close()

    def _take(self, step: Step) -> Any:
        match step:
            case Connect(address, _):
                self.tried.append(str(address))
                if self.script and isinstance(self.script[0], Unreachable):
                    failure = self.script.popleft()
                    assert isinstance(failure, Unreachable)
                    raise failure.error
                self.connections.append(ScriptedConnection())
                return self.connections[-1]
            case Send(ScriptedConnection() as connection, data, _):
                assert not connection.closed
                request = parsed_request(data)
                if self.script and isinstance(self.script[0], Unreachable):
                    # The daemon is gone, and with it what was connected to it.
                    connection.incoming.append(b"")
                    return None
                assert self.script, f"no answer for {request}"
                self.requests.append(request)
                outcome = self.script.popleft()
                assert isinstance(outcome, Pieces)
                self.now += outcome.parked_s
                connection.incoming.extend(outcome.pieces)
            case Receive(ScriptedConnection() as connection, timeout_s):
                assert not connection.closed
                if not connection.incoming:
                    self.now += timeout_s
                    raise TimeoutError
                piece = connection.incoming.popleft()
                if isinstance(piece, OSError):
                    raise piece
                return piece
            case Pause(seconds):
                self.pauses.append(seconds)
                self.now += seconds
            case _:
                raise AssertionError(f"no step: {step!r}")
        return None
