"""Refusals: each is counted, and those tell that something is wrong are logged."""

from __future__ import annotations

import logging
from typing import Final

from coordroomsd.domain.errors import Refusal
from coordroomsd.live.metrics import Metrics

logger = logging.getLogger(__name__)

# A limit, a credential, a foreign page, or the database. The others are everyday: a name that is
# taken, a claim that somebody holds. `internal_error` is logged where it is found, with its place.
OF_NOTE: Final = frozenset(
    {
        "conversation_not_yours",
        "enrollment_invalid",
        "forbidden",
        "host_not_allowed",
        "origin_not_allowed",
        "payload_too_large",
        "rate_limited",
        "store_unavailable",
        "too_many_waiters",
        "unauthorized",
    }
)


class Refusals:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def note(self, refusal: Refusal, call: str, origin: str, participant: str | None) -> None:
        """`call` is what was asked for, in our words; `origin` a user or an address.

        The refusal's own text is left out: it may quote what was sent.
        """
        self._metrics.refusals.add(refusal.code)
        level = logging.WARNING if refusal.code in OF_NOTE else logging.DEBUG
        if not logger.isEnabledFor(level):
            return
        fields: dict[str, object] = {
            "code": refusal.code,
            "status": refusal.status,
            "call": call,
            "origin": origin,
        }
        if participant is not None:
            fields["participant"] = participant[:200]
        same = (refusal.code, origin)
        about = {"fields": fields, "like": same}
        logger.log(level, "refused %s: %s", call, refusal.code, extra=about)

    def turned_away(self, refusal: Refusal, origin: str) -> None:
        """A connection was refused before anything was asked."""
        self._metrics.dropped_connections.add("many")
        self.note(refusal, "a connection", origin, None)

    def dropped(self, why: str, origin: str) -> None:
        """A connection was ended; `why` is one of `metrics.DROPS`."""
        self._metrics.dropped_connections.add(why)
        about = {"fields": {"why": why, "origin": origin}, "like": (why, origin)}
        logger.warning("ended a connection: %s", _WHY[why], extra=about)


_WHY: Final = {
    "slow_sender": "its request did not come to an end in time",
    "slow_reader": "its answer was not read in time, or others needed the memory",
}
