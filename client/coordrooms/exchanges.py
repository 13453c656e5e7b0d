"""One request and its answer over a connection that is kept for the next one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from .addresses import Address
from .calls import Connect, Connection, Program, Receive, Send
from .wire import ResponseReader, TruncatedError

# As many as a client is likely to use at once; more are opened when needed and not kept.
IDLE_CONNECTIONS = 8

# A kept connection that was closed shows that at once; one that is lost later had been in use.
STALE_WITHIN_S = 1.0


class LostAnswerError(ConnectionError):
    """The request went out, and the connection ended before its answer was whole."""


class Answer(NamedTuple):
    """A whole answer: its status, headers with lower-case names, and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Exchanges:
    """The connections to one daemon. Safe to use from several threads."""

    def __init__(self, address: Address, clock: Callable[[], float]) -> None:
        self.address = address
        self._clock = clock
        # Only append and pop, which are atomic.
        self._idle: list[Connection] = []
        self._closed = False

    def close(self) -> None:
        """Close the connections that are not in use; those in use close after their answer."""
        self._closed = True
        self._drop_idle()

    def exchange(self, request: bytes, timeout_s: float) -> Program[Answer]:
        """Send a request and read its whole answer.

        Raises OSError: TimeoutError when `timeout_s` is over, LostAnswerError when the daemon may
        have seen the request; and WireError. A kept connection that was closed meanwhile is
        replaced at once, as the daemon closes those that nobody uses.
        """
        began = self._clock()
        deadline = began + timeout_s
        while (connection := self._take_idle()) is not None:
            try:
                return (yield from self._over(connection, request, deadline))
            except LostAnswerError:
                # The others are as old as this one.
                self._drop_idle()
                if self._clock() - began > STALE_WITHIN_S:
                    raise
        connection = yield from self.connect(timeout_s)
        return (yield from self._over(connection, request, deadline))

    def connect(self, timeout_s: float) -> Program[Connection]:
        connection: Connection = yield Connect(self.address, timeout_s)
        return connection

    def _over(self, connection: Connection, request: bytes, deadline: float) -> Program[Answer]:
        reader = ResponseReader()
        try:
            yield from self.send(connection, request, deadline)
            while not reader.done:
                reader.feed((yield Receive(connection, self.left_s(deadline))))
            answer = Answer(reader.status, reader.headers, reader.take())
        except TimeoutError:
            connection.close()
            raise
        except (OSError, TruncatedError) as error:
            connection.close()
            raise LostAnswerError(str(error) or type(error).__name__) from error
        except BaseException:
            connection.close()
            raise
        if reader.reusable and not self._closed and len(self._idle) < IDLE_CONNECTIONS:
            self._idle.append(connection)
        else:
            connection.close()
        return answer

    def send(self, connection: Connection, request: bytes, deadline: float) -> Program[None]:
        """Send a request. That the daemon stops listening is no error: see what it answered."""
        try:
            yield Send(connection, request, self.left_s(deadline))
        except (BrokenPipeError, ConnectionResetError):
            # A request that is refused for its size is answered before it was read.
            return

    def left_s(self, deadline: float) -> float:
        """The seconds until a time of the clock; TimeoutError when it has passed."""
        left_s = deadline - self._clock()
        if left_s <= 0:
            raise TimeoutError
        return left_s

    def _take_idle(self) -> Connection | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _drop_idle(self) -> None:
        while (connection := self._take_idle()) is not None:
            connection.close()
