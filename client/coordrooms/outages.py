"""How long to bear it that the daemon is away, and when to look again."""

from __future__ import annotations

from collections.abc import Callable

# Pauses grow from the first to the second: a restart takes about a second, and thousands of
# clients must not come back at the same moment.
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 2.0


class Outage:
    """The failures of one call since the daemon was last known to be there.

    Patience lasts `patience_s` from the first of them, and not beyond `deadline` of the clock.
    """

    def __init__(
        self, patience_s: float, clock: Callable[[], float], deadline: float | None = None
    ) -> None:
        self._patience_s = patience_s
        self._clock = clock
        self._deadline = deadline
        self._since: float | None = None
        self._failures = 0

    def over(self) -> None:
        """The daemon was there again: patience begins anew with the next failure."""
        self._since = None
        self._failures = 0

    def pause_s(self, began: float, at_least_s: float) -> float | None:
        """The seconds until the next attempt, or None when patience is at an end.

        The failure is that of an attempt that `began` at that time of the clock.
        """
        if self._since is None:
            self._since = began
        growing = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(self._failures, 16))
        self._failures += 1
        pause_s = at_least_s + jittered(growing)
        end = self._since + self._patience_s
        if self._deadline is not None:
            end = min(end, self._deadline)
        return pause_s if self._clock() + pause_s <= end else None


def jittered(seconds: float) -> float:
    """Between half of `seconds` and all of it."""
    # Imported when it is needed, which in most runs of a command is never.
    from random import uniform

    return uniform(seconds / 2, seconds)  # noqa: S311 - no secret
