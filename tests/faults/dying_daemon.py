"""`coordroomsd`, killing itself at a named point as kill -9 does. Run in its place with

    python -m tests.faults.dying_daemon POINT NTH serve …

From SIGUSR1 on it counts how often it comes by the point, and dies the NTH time.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

from coordroomsd.cli import main
from coordroomsd.http.exchanges import Exchange
from coordroomsd.journal.journal import Journal
from coordroomsd.journal.publishing import Publishing


class Point:
    """Where it dies: as the method is called, or as it returns."""

    def __init__(self, owner: type, method: str, *, as_it_returns: bool = False) -> None:
        self._owner = owner
        self._method = method
        self._as_it_returns = as_it_returns

    def wrap(self, passed: Callable[[], None]) -> None:
        """Let `passed` be called there."""
        method = getattr(self._owner, self._method)
        wrapped = _returning(method, passed) if self._as_it_returns else _calling(method, passed)
        setattr(self._owner, self._method, wrapped)


POINTS: Final = {
    # Decided, and nothing of it sent to the database.
    "before_commit": Point(Journal, "_commit"),
    # Stored, and nothing of it in memory.
    "after_commit": Point(Journal, "_commit", as_it_returns=True),
    "before_publish": Point(Publishing, "publish"),
    # Everybody is woken, and some have their answers.
    "before_answer": Point(Exchange, "reply"),
}


def _calling(method: Callable[..., Any], passed: Callable[[], None]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapper(*given: Any, **named: Any) -> Any:
        passed()
        return method(*given, **named)

    return wrapper


def _returning(
    method: Callable[..., Awaitable[Any]], passed: Callable[[], None]
) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(method)
    async def wrapper(*given: Any, **named: Any) -> Any:
        result = await method(*given, **named)
        passed()
        return result

    return wrapper


def _run(point: str, nth: int, arguments: list[str]) -> int:
    left: int | None = None

    def begin(_: int, __: object) -> None:
        nonlocal left
        left = nth

    def passed() -> None:
        nonlocal left
        if left is not None:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    signal.signal(signal.SIGUSR1, begin)
    POINTS[point].wrap(passed)
    return main(arguments)


if __name__ == "__main__":
    sys.exit(_run(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
