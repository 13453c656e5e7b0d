"""What connections may take of the daemon: shared by all listeners."""

from __future__ import annotations

from typing import Final, Protocol

from coordroomsd.domain.errors import Refusal
from coordroomsd.http.readers import Readers
from coordroomsd.http.senders import Senders
from coordroomsd.live.connections import Connections

# For a request's headers, from its first byte on, and for its body.
REQUEST_WITHIN_S: Final = 30.0
# Of connections that are turned away, so many may stay a second to read why: closing one whose
# request is on its way takes the answer back.
MAX_LINGERING: Final = 64
LINGER_S: Final = 1.0


class Dropping(Protocol):
    """Who is told of connections that a bound ends; see `live.refusals.Refusals`."""

    def turned_away(self, refusal: Refusal, origin: str) -> None: ...

    def dropped(self, why: str, origin: str) -> None: ...


class Bounds:
    """`request_within_s` may change, as may those of `connections`, `readers` and `senders`."""

    def __init__(
        self,
        connections: Connections | None = None,
        readers: Readers | None = None,
        dropping: Dropping | None = None,
        request_within_s: float = REQUEST_WITHIN_S,
    ) -> None:
        self.connections = Connections() if connections is None else connections
        self.readers = Readers() if readers is None else readers
        self.senders = Senders()
        self.request_within_s = request_within_s
        self.lingering = 0
        self._dropping = dropping

    def turned_away(self, refusal: Refusal, origin: str) -> None:
        if self._dropping:
            self._dropping.turned_away(refusal, origin)

    def dropped(self, why: str, origin: str) -> None:
        if self._dropping:
            self._dropping.dropped(why, origin)
