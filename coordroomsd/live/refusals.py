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
