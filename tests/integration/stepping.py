"""Doing something at one chosen point at which a coroutine waits."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SleptThroughError(AssertionError):
    """What happened did not keep it from waiting for ever."""


class Stepping(Generic[T]):
    """Runs `work`, and `act` to its end while `work` waits for the `point`th time.

    `sleeps` tells by what `work` waits for whether it would wait until something happens. Should
    it do so before it has come to the point, `act` happens there too; once `act` has happened it
    must not. `reached` tells whether there was such a point.
    """

    def __init__(
        self,
        work: Coroutine[Any, Any, T],
        point: int,
        act: Callable[[], Awaitable[object]],
        sleeps: Callable[[Future[Any]], bool],
    ) -> None:
        self._work = work
        self._point = point
        self._act = act
        self._sleeps = sleeps
        self.reached = False

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._work.__await__()
        points, acted = 0, False
        while True:
            try:
                waited_for = steps.send(None)
            except StopIteration as end:
                result: T = end.value
                return result
            points += 1
            self.reached |= points == self._point
            asleep = waited_for is not None and self._sleeps(waited_for)
            if asleep and acted and not waited_for.done():
                raise SleptThroughError(f"parked at point {points} in spite of what happened")
            if points == self._point or (asleep and not acted):
                acted = True
                yield from self._act().__await__()
            if waited_for is None or not waited_for.done():
                yield waited_for
            else:
                # What has come meanwhile is not handed to the task, which would refuse it.
                waited_for._asyncio_future_blocking = False
