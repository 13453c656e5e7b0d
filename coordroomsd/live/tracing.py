"""Traces: what one call went through, and when. `telemetry.py` tells where they go, if anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple, Protocol


class Parent(NamedTuple):
    """What a caller says of the trace that its call belongs to: two headers of W3C's."""

    traceparent: str | None = None
    tracestate: str | None = None


class Span(Protocol):
    """A call that is under way. Moments are seconds of the daemon's even clock.

    Nothing that it is told may hold a body or a token.
    """

    def rename(self, name: str) -> None: ...

    def note(self, name: str, value: str | int) -> None: ...

    def part(self, name: str, began: float, ended: float) -> None:
        """Something that the call went through and that is over."""

    def stored(self, room_id: int, seqs: Iterable[int]) -> None:
        """The call has made these events."""

    def woken_by(self, room_id: int, seqs: Iterable[int]) -> None:
        """The call has waited for these events."""

    def answered(self, status: int, code: str | None) -> None:
        """`code` is a refusal's."""

    def end(self) -> None:
        """May come again, and counts once."""


Begin = Callable[[str, Parent], Span]

_NOBODY: Final = Parent()

# The call of this task, if it is traced.
CURRENT: Final[ContextVar[Span | None]] = ContextVar("span", default=None)


class Tracing:
    """Without `begin` nothing is traced, and nothing is spent on it."""

    def __init__(self, begin: Begin | None = None) -> None:
        self._begin = begin

    @property
    def is_on(self) -> bool:
        return self._begin is not None

    @contextmanager
    def span(self, name: str, parent: Parent = _NOBODY) -> Iterator[Span | None]:
        """A span as long as the block: a part of the current one, else of `parent`."""
        if self._begin is None:
            yield None
            return
        span = self._begin(name, parent)
        outer = CURRENT.set(span)
        try:
            yield span
        finally:
            CURRENT.reset(outer)
            span.end()
