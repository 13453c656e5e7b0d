"""A claim as a lock: taken, renewed while the work lasts, given back. Both fronts drive it."""

from __future__ import annotations

from datetime import datetime

from .calls import Call, Pause, Program, do, fresh_key
from .errors import CoordroomsError, LeaseLostError
from .models import Claim
from .operations.signals import release, take
from .operations.waits import LONGEST_WAIT_S, closing_pause, wait
from .refusals import (
    ActiveMembershipNotFoundError,
    ClaimConflictError,
    NotClaimHolderError,
    RateLimitedError,
    RefusedError,
)
from .sessions import Session
from .signals import Claimed

# Two renewals may fail before the lease is in danger.
RENEWALS_PER_LEASE = 3

# Statuses from here on say nothing about the claim.
SERVER_FAULTS = 500

# Whoever breaks off does not want to wait.
UNDO_WITHIN_S = 5.0


class Lease:
    """What is known of a held claim; `fence` guards what is done under it.

    Deadlines are counted on this machine's monotonic clock from before each request was sent, so
    that the lease is given up before the daemon ends it, whatever the clocks of both say.
    """

    def __init__(
        self,
        session: Session,
        room: str,
        key: str,
        *,
        lease_s: int,
        proposed_by_seq: int | None,
        timeout_s: float,
    ) -> None:
        self.key = key
        self.session = session
        self._room = room
        self._lease_s = lease_s
        self._proposed_by_seq = proposed_by_seq
        self._timeout_s = timeout_s
        self._clock = session.clock
        self._claim: Claim | None = None
        self._ends = 0.0
        self._lost: str | None = None
        # The key of a claim that was asked for and is not answered yet.
        self._taking: str | None = None

    @property
    def claim(self) -> Claim:
        """The claim as the daemon last told. Raises RuntimeError before it is taken."""
        if self._claim is None:
            raise RuntimeError(f"the claim {self.key!r} is not taken yet: enter the block first")
        return self._claim

    @property
    def fence(self) -> int:
        return self.claim.fence

    @property
    def expires_at(self) -> datetime:
        """When it ends unless it is renewed, by the daemon's clock."""
        return self.claim.expires_at

    @property
    def lost(self) -> bool:
        """Whether it must be taken as lost."""
        return self._lost is not None or self._clock() >= self._ends

    def check(self) -> None:
        """Raise LeaseLostError when it is lost: for work that is about to have an effect."""
        if self.lost:
            raise self.lost_error()

    def lost_error(self) -> LeaseLostError:
        return LeaseLostError(self.key, self.fence, self._lost or "it could not be renewed in time")

    def acquire(self) -> Program[None]:
        """Take the claim, at once or within the time given. Raises ClaimConflictError."""
        deadline = self._clock() + self._timeout_s
        while True:
            sent = self._clock()
            self._taking = fresh_key()
            try:
                claimed = yield from do(self._take(self._taking))
            except ClaimConflictError:
                self._taking = None
                if self._clock() >= deadline:
                    raise
            except RateLimitedError as error:
                self._taking = None
                pause_s = error.retry_after_s or 1.0
                if self._clock() + pause_s >= deadline:
                    raise
                yield Pause(pause_s)
                continue
            else:
                self._taking = None
                self._claim = claimed.claim
                self._ends = sent + self._lease_s
                return
            yield from self._until_free(deadline - self._clock())

    def undo(self) -> Program[None]:
        """After `acquire` was broken off: give back what it may have taken, as well as may be."""
        if self._taking is None:
            return
        try:
            # The same key, so the answer is the lost one and has the fence that it was given.
            claimed = yield from do(self._take(self._taking)._replace(within_s=UNDO_WITHIN_S))
            given_back = release(self._room, self.key, fence=claimed.claim.fence)
            yield from do(given_back._replace(within_s=UNDO_WITHIN_S))
        except CoordroomsError:
            # Another holds it, or the daemon is away and the lease will end by itself.
            return

    def keep(self) -> Program[None]:
        """Renew until the claim is lost, which is when this returns."""
        pause_s = self._lease_s / RENEWALS_PER_LEASE
        while True:
            yield Pause(max(0.0, min(pause_s, self._ends - self._clock())))
            sent = self._clock()
            if sent >= self._ends:
                self._lost = "it could not be renewed in time"
                return
            pause_s = self._lease_s / RENEWALS_PER_LEASE
            left_s = self._ends - sent
            renewal = take(self._room, self.key, lease_s=self._lease_s, fence=self.fence)
            try:
                renewed = yield from do(renewal._replace(patience_s=left_s, within_s=left_s))
            except RateLimitedError as error:
                pause_s = error.retry_after_s or 1.0
            except RefusedError as error:
                if error.status < SERVER_FAULTS:
                    self._lost = error.detail
                    return
                pause_s = 1.0
            except CoordroomsError as error:
                self._lost = str(error)
                return
            else:
                self._claim = renewed.claim
                self._ends = sent + self._lease_s

    def give_back(self) -> Program[None]:
        """Release this lease of the claim, and no other. Raises LeaseLostError if it had ended."""
        try:
            yield from do(release(self._room, self.key, fence=self.fence))
        except (NotClaimHolderError, ActiveMembershipNotFoundError) as error:
            if isinstance(error, NotClaimHolderError) and error.holder is None:
                # Free already: most likely by a first attempt whose answer was lost.
                return
            self._lost = error.detail
            raise self.lost_error() from error

    def _take(self, idempotency_key: str) -> Call[Claimed]:
        return take(
            self._room,
            self.key,
            lease_s=self._lease_s,
            proposed_by_seq=self._proposed_by_seq,
            idempotency_key=idempotency_key,
        )

    def _until_free(self, left_s: float) -> Program[None]:
        # Without a number, so that nothing counts as received, and showing as little as possible:
        # what the wait happens to show is not handed to anybody.
        woken = yield from do(
            wait(
                self._room,
                wake_on=f"free:{self.key}",
                timeout_s=min(max(0.0, left_s), LONGEST_WAIT_S),
                limit=1,
            )
        )
        if woken.reason == "closing":
            yield closing_pause()
