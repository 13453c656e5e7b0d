"""The relay's loop: one host on one side, at most one connection to a daemon on the other."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from time import monotonic

from .relay_answers import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Message,
    encoded,
    error,
    failure,
    local_answer,
    parsed,
)
from .relay_calls import MESSAGE_MAX_BYTES, Call
from .relay_streams import BACKLOG, Connection, Host

# A restart takes a second or two; hosts give up on a call after a minute, some after half of one.
PATIENCE_S = 20.0
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0
HANDSHAKE_ID = "coordrooms-relay-handshake"
CLOSING = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Relay:
    """`connect` makes a connection to the daemon, or raises OSError.

    `hello` is the first line on each: it names the host's session. `where` is for errors.
    """

    def __init__(
        self, host: Host, connect: Callable[[], Connection], where: str, hello: Message
    ) -> None:
        self._host = host
        self._connect_to = connect
        self._where = where
        self._hello = hello
        self._daemon: Connection | None = None
        self._draining = False  # the daemon there is now said that it stops
        self._handshake: list[Message] = []
        self._calls: dict[object, Call] = {}
        self._lost_at: float | None = None
        self._pause_s = FIRST_PAUSE_S
        self._next_try = 0.0
        self._reason = ""
        # Of the daemon's database, as far as the agent has heard of it.
        self._generation: str | None = None

    def run(self) -> None:
        """Relay until the host closes its end."""
        try:
            while self._turn():
                pass
            self._host.finish()
        except OSError:
            return  # the host is gone altogether
        finally:
            if self._daemon is not None:
                self._daemon.close()

    def _turn(self) -> bool:
        """Wait for something to do and do it; False at the end of the host's stream."""
        for fd, ready in self._poller().poll(self._pause_left_ms()):
            if fd == self._host.stdin:
                lines = self._host.read()
                if lines is None:
                    return False
                for line in lines:
                    self._from_host(line)
            elif fd == self._host.stdout:
                if ready & CLOSING:
                    return False
                self._host.flush()
            elif self._daemon is not None and fd == self._daemon.fileno():
                self._serve_daemon(self._daemon, ready)
        if self._must_retry() and monotonic() >= self._next_try:
            self._retry()
        return True

    def _poller(self) -> select.poll:
        poller = select.poll()
        daemon = self._daemon
        # First, so that no call goes to a daemon whose end could have been seen.
        if daemon is not None:
            reads = select.POLLIN if len(self._host.unsent) < BACKLOG else 0
            poller.register(daemon, reads | (select.POLLOUT if daemon.unsent else 0))
        # A closed stdin is reported even while nothing is read from it.
        listens = daemon is None or len(daemon.unsent) < BACKLOG
        poller.register(self._host.stdin, select.POLLIN if listens else 0)
        poller.register(self._host.stdout, select.POLLOUT if self._host.unsent else 0)
        return poller

    # --- the host ----------------------------------------------------------------------------

    def _from_host(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = parsed(line)
        except ValueError as fault:
            self._tell_host(error(None, PARSE_ERROR, str(fault)))
            return
        method = message.get("method")
        if "id" in message and not _is_id(message["id"]):
            self._tell_host(error(None, INVALID_REQUEST, "An id is a string or an integer."))
        elif isinstance(method, str) and "id" in message:
            self._asked(message, line)
        elif isinstance(method, str):
            self._notified(message, method, line)
        elif "result" in message or "error" in message:
            self._to_daemon(line)
        else:
            self._tell_host(
                error(message.get("id"), INVALID_REQUEST, "A message has a method, a string.")
            )

    def _asked(self, message: Message, line: bytes) -> None:
        answer = local_answer(message)
        if answer is None and len(line) > MESSAGE_MAX_BYTES:
            answer = _too_large(message, len(line))
        if answer is None:
            call = self._calls[message["id"]] = Call(message, line)
            self._place(call)
            return
        if message["method"] == "initialize" and "result" in answer:
            self._handshake = []
            self._shake_hands({**message, "id": HANDSHAKE_ID})
        self._tell_host(answer)

    def _notified(self, message: Message, method: str, line: bytes) -> None:
        if method == "notifications/initialized":
            self._shake_hands(message)
        elif method == "notifications/cancelled":
            params = message.get("params")
            cancelled = params.get("requestId") if isinstance(params, dict) else None
            call = self._calls.pop(cancelled, None) if _is_id(cancelled) else None
            if call is not None and call.sent:
                self._to_daemon(line)
        else:
            self._to_daemon(line)

    def _shake_hands(self, message: Message) -> None:
        self._handshake.append(message)
        self._to_daemon(encoded(message)[:-1])

    def _tell_host(self, message: Message) -> None:
        self._host.unsent += encoded(message)

    # --- the daemon --------------------------------------------------------------------------

    def _serve_daemon(self, daemon: Connection, ready: int) -> None:
        try:
            if ready & select.POLLOUT:
                daemon.flush()
            if ready & (select.POLLIN | CLOSING):
                for line in daemon.read():
                    self._from_daemon(line)
        except (OSError, ValueError):  # a ValueError is no MCP server's line
            self._lose()
        if self._draining and not any(call.sent for call in self._calls.values()):
            self._lose()

    def _from_daemon(self, line: bytes) -> None:
        self._pause_s = FIRST_PAUSE_S
        message = parsed(line)
        if "method" in message:
            self._host.unsent += line + b"\n"
            return
        call = self._calls.get(message.get("id"))
        if call is None:
            return  # the handshake's answer, or that of a call the host has cancelled
        if call.ended_by_drain(message):
            call.sent = False
            self._draining = True
        else:
            del self._calls[message["id"]]
            self._generation = call.generation_told(message) or self._generation
            self._host.unsent += line + b"\n"

    def _to_daemon(self, line: bytes) -> None:
        """Send what makes no sense to any other daemon than the one there is now."""
        if self._daemon is not None:
            self._daemon.unsent += line + b"\n"

    def _place(self, call: Call) -> None:
        """Send a call, or keep it for the daemon that is about to come back, or answer it."""
        if self._daemon is not None or self._connect():
            self._send_waiting()
        elif self._lost_at is None:
            self._give_up()

    def _send_waiting(self) -> None:
        for call in self._calls.values():
            if self._daemon is not None and not call.sent and not self._draining:
                self._daemon.unsent += call.line(self._generation)

    def _connect(self) -> bool:
        """Make a connection and bring the daemon to where the last one was."""
        try:
            self._daemon = self._connect_to()
        except OSError as fault:
            self._reason = f"{self._where}: {fault.strerror or fault}"
            return False
        self._draining = False
        self._lost_at = None
        for message in (self._hello, *self._handshake):
            self._daemon.unsent += encoded(message)
        return True

    def _lose(self) -> None:
        """The connection has ended: keep what can be repeated, answer the rest."""
        if self._daemon is not None:
            self._daemon.close()
        self._daemon = None
        self._draining = False
        self._lost_at = monotonic()
        self._schedule()
        for request_id, call in list(self._calls.items()):
            if call.sent and not call.may_be_repeated():
                del self._calls[request_id]
                self._tell_host(
                    failure(
                        call.message,
                        "daemon_restarted",
                        f"The daemon went away during {call.description()}; whether it took "
                        "effect is not known.",
                        "Look first (list_active_rooms, list_room_messages or list_claims), then "
                        "repeat the call if it did not.",
                    )
                )
            call.sent = False

    # --- coming back -------------------------------------------------------------------------

    def _must_retry(self) -> bool:
        return self._daemon is None and bool(self._calls)

    def _pause_left_ms(self) -> float | None:
        return max(0.0, self._next_try - monotonic()) * 1000 if self._must_retry() else None

    def _schedule(self) -> None:
        # Spread by half, at random: a thousand relays come back to the same daemon.
        spread = 0.5 + os.urandom(1)[0] / 256
        self._next_try = monotonic() + self._pause_s * spread
        self._pause_s = min(LONGEST_PAUSE_S, self._pause_s * 2)

    def _retry(self) -> None:
        if self._connect():
            self._send_waiting()
        elif self._lost_at is not None and monotonic() - self._lost_at < PATIENCE_S:
            self._schedule()
        else:
            self._give_up()

    def _give_up(self) -> None:
        """Nobody is there: say so to every call, and connect anew at the next."""
        self._lost_at = None
        for call in self._calls.values():
            self._tell_host(
                failure(
                    call.message,
                    "daemon_unreachable",
                    f"No daemon answers ({self._reason}).",
                    "Start it with `coordroomsd serve`, or ask the user to, then repeat the call.",
                )
            )
        self._calls.clear()


def _too_large(message: Message, size: int) -> Message:
    return failure(
        message,
        "payload_too_large",
        f"The call has {size} bytes; at most {MESSAGE_MAX_BYTES} are taken.",
        "Send less: split it into several calls.",
    )


def _is_id(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)
