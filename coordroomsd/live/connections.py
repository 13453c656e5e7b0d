"""How many connections there may be, in all and from one user or address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from coordroomsd.domain.errors import Refusal

# Over HTTP and MCP together; so that one user's do not keep everybody else out.
MOST, MOST_OF_ONE = 25_000, 20_000


class Connections:
    """`most` and `most_of_one` may change; who is in stays."""

    def __init__(self, most: int = MOST, most_of_one: int = MOST_OF_ONE) -> None:
        self.most = most
        self.most_of_one = most_of_one
        self._of: Counter[Hashable] = Counter()
        self._all = 0

    def __len__(self) -> int:
        return self._all

    def enter(self, peer: Hashable) -> None:
        """Raises `too_many_waiters`; else `leave` has to follow."""
        if self._all >= self.most:
            raise Refusal(
                "too_many_waiters", f"{self.most} connections are open, which is the limit here."
            )
        if self._of[peer] >= self.most_of_one:
            raise Refusal(
                "too_many_waiters",
                f"{self.most_of_one} connections are open from one user or address, which is the "
                "limit here.",
            )
        self._of[peer] += 1
        self._all += 1

    def leave(self, peer: Hashable) -> None:
        self._all -= 1
        self._of[peer] -= 1
        if not self._of[peer]:
            del self._of[peer]
