"""Steps taken on plain sockets, and the driving of programs by the calling thread."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .addresses import Address, UnixAddress
from .calls import Connect, Pause, Program, Receive, Send, Step

T = TypeVar("T")

RECEIVE_SIZE = 262_144


def drive(steps: Program[T], pause: Callable[[float], object] = time.sleep) -> T:
    """Take the steps of a program one after the other; what it returns.

    `pause` does nothing for so many seconds; it may raise to end the program.
    """
    try:
        step = next(steps)
        while True:
            try:
                result = _take(step, pause)
            except OSError as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        value: T = stop.value
        return value
    finally:
        # A program that is interrupted in the middle of an answer closes its connection here.
        steps.close()


class SocketConnection:
    """A connected socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def close(self) -> None:
        self.sock.close()


def _take(step: Step, pause: Callable[[float], object]) -> Any:
    match step:
        case Receive(SocketConnection(sock=sock), timeout_s):
            sock.settimeout(timeout_s)
            return sock.recv(RECEIVE_SIZE)
        case Send(SocketConnection(sock=sock), data, timeout_s):
            sock.settimeout(timeout_s)
            sock.sendall(data)
        case Connect(address, timeout_s):
            return SocketConnection(_open(address, timeout_s))
        case Pause(seconds):
            pause(seconds)
        case _:
            raise TypeError(f"no step of this front: {step!r}")
    return None


def _open(address: Address, timeout_s: float) -> socket.socket:
    if isinstance(address, UnixAddress):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(timeout_s)
            sock.connect(address.path)
        except BaseException:
            sock.close()
            raise
        return sock
    sock = socket.create_connection((address.host, address.port), timeout_s)
    try:
        # A request goes out as one piece, so there is nothing to wait for.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not address.tls:
            return sock
        import ssl

        return ssl.create_default_context().wrap_socket(sock, server_hostname=address.host)
    except BaseException:
        sock.close()
        raise
