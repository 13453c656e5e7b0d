"""What a client does, before any I/O: calls, and programs made of several.

A *call* is one request and how to read its answer. A *program* is a generator that yields steps
(calls among them), is sent their results, and returns what it was for; a front drives it, so that
both fronts share everything but the waiting itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from .addresses import Address
from .errors import ConfigurationError
from .models import Json

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# The contract's.
LONGEST_KEY = 255

Query = Mapping[str, "str | int | float | list[str] | None"]


class Call(NamedTuple, Generic[T_co]):
    """One request below `base`.

    `path` is percent-encoded. A `query` value of None is left out, a list is repeated. `key` is
    the idempotency key. `wait_s` is how long the daemon may park the call. `patience_s` is how
    long to go on trying while the daemon is away; None means as long as the client was told.
    `within_s` ends all attempts together.
    """

    method: str
    path: str
    parse: Callable[[Json], T_co]
    query: Query | None = None
    body: Mapping[str, Any] | None = None
    key: str | None = None
    wait_s: float | None = None
    patience_s: float | None = None
    within_s: float | None = None
    base: str = "/api/v1"


class Connection(Protocol):
    """An open connection of one of the fronts."""

    def close(self) -> None:
        """Close at once, without waiting."""


class Connect(NamedTuple):
    """Step: open a connection. Answered with it; OSError when that fails or takes too long."""

    address: Address
    timeout_s: float


class Send(NamedTuple):
    """Step: send all of `data`. OSError as above."""

    connection: Connection
    data: bytes
    timeout_s: float


class Receive(NamedTuple):
    """Step: receive some bytes, `b""` at the end of the connection. OSError as above."""

    connection: Connection
    timeout_s: float


class Pause(NamedTuple):
    """Step: do nothing for so long."""

    seconds: float


Step = Connect | Send | Receive | Pause | Call[Any]
Program = Generator[Step, Any, T]
Work = Call[T] | Program[T]


def do(call: Call[T]) -> Program[T]:
    """The program that makes one call, for use with `yield from`."""
    result: T = yield call
    return result


def fresh_key() -> str:
    """An idempotency key that nobody else will choose: 128 random bits."""
    return os.urandom(16).hex()


def idempotency(key: str | None) -> str:
    """The idempotency key that a caller chose, else a fresh one."""
    if key is None:
        return fresh_key()
    if not 1 <= len(key) <= LONGEST_KEY or not all("!" <= sign <= "~" for sign in key):
        raise ConfigurationError(
            f"The idempotency key {key[:LONGEST_KEY]!r} cannot be used: choose 1 to {LONGEST_KEY} "
            "visible ASCII characters."
        )
    return key
