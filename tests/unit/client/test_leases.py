"""A claim as a lock: taking, renewing, losing and giving back, by a clock that is a number."""

from __future__ import annotations

from typing import Any

import pytest

from coordrooms.errors import LeaseLostError
from coordrooms.leases import Lease
from coordrooms.refusals import ClaimConflictError, MembershipNotFoundError, RateLimitedError
from tests.unit.client import documents
from tests.unit.client.scripted import (
    LOST,
    Pieces,
    Scripted,
    Unreachable,
    problem,
    reply,
)

CLAIMED = reply(documents.claimed(9))
RENEWED = reply(documents.claimed(9, renewed=True))
HELD = problem("claim_conflict", 409, holder=documents.BOB, expires_at=documents.AT, fence=7)
FREE = reply(documents.wait(3, reason="event"))
NOT_HOLDER = problem("not_claim_holder", 409, holder=documents.BOB, expires_at=documents.AT)


def lease(daemon: Scripted, lease_s: int = 60, timeout_s: float = 0.0) -> Lease:
    return Lease(
        daemon.session(),
        "r",
        "the-draft",
        lease_s=lease_s,
        proposed_by_seq=4,
        timeout_s=timeout_s,
    )


def acquire(daemon: Scripted, held: Lease) -> None:
    daemon.drive(held.session.run(held.acquire()))


def keep(daemon: Scripted, held: Lease) -> None:
    """Renew until it is lost, which must need all of the script and no more."""
    daemon.run(held.session, held.keep())


def taken(daemon: Scripted, **settings: Any) -> Lease:
    """A lease that was taken by the first outcome of the script."""
    held = lease(daemon, **settings)
    acquire(daemon, held)
    return held


# --- taking --------------------------------------------------------------------------------


def test_taking_a_free_claim() -> None:
    daemon = Scripted(CLAIMED)
    held = taken(daemon)
    assert (held.key, held.fence, held.lost) == ("the-draft", 9, False)
    assert held.expires_at == held.claim.expires_at
    held.check()
    [request] = daemon.requests
    assert request.body == {"key": "the-draft", "lease_s": 60, "proposed_by_seq": 4}
    assert request.key


def test_before_it_is_taken_there_is_no_fence() -> None:
    with pytest.raises(RuntimeError, match="'the-draft' is not taken yet"):
        _ = lease(Scripted()).fence


def test_a_claim_that_another_holds_is_refused_at_once() -> None:
    daemon = Scripted(HELD)
    with pytest.raises(ClaimConflictError):
        taken(daemon)
    assert daemon.now == 1000


def test_a_claim_can_be_waited_for() -> None:
    daemon = Scripted(HELD, FREE, HELD, FREE, CLAIMED)
    assert taken(daemon, timeout_s=1000).fence == 9
    waited = [dict(request.query) for request in daemon.requests if request.method == "GET"]
    assert [(query["wake_on"], query["limit"]) for query in waited] == [("free:the-draft", "1")] * 2
    assert not any("after_seq" in query for query in waited), "it proves nothing"
    takes = [request.key for request in daemon.requests if request.method == "POST"]
    assert len(set(takes)) == 3, "a claim that was refused is asked for anew"


def test_waiting_for_a_claim_has_an_end() -> None:
    time_outs = [reply(documents.wait(3), parked_s=seconds) for seconds in (300, 200)]
    daemon = Scripted(HELD, time_outs[0], HELD, time_outs[1], HELD)
    with pytest.raises(ClaimConflictError):
        taken(daemon, timeout_s=500)
    assert daemon.now == 1500
    waited = [dict(request.query) for request in daemon.requests if request.method == "GET"]
    assert [query["timeout_s"] for query in waited] == ["300.0", "200.0"]


def test_the_daemon_may_close_meanwhile() -> None:
    closing = reply(documents.wait(3, reason="closing"))
    daemon = Scripted(HELD, closing, Unreachable(), CLAIMED)
    assert taken(daemon, timeout_s=500).fence == 9
    assert len(daemon.pauses) == 2


def test_taking_too_often_is_waited_out_within_the_time() -> None:
    limited = problem("rate_limited", 429, retry_after=10)
    daemon = Scripted(limited, CLAIMED)
    assert taken(daemon, timeout_s=500).fence == 9
    assert daemon.pauses == [10]
    with pytest.raises(RateLimitedError):
        taken(Scripted(limited), timeout_s=5)


def test_other_refusals_are_raised() -> None:
    with pytest.raises(MembershipNotFoundError):
        taken(Scripted(problem("membership_not_found", 404)), timeout_s=500)


def break_off(held: Lease) -> None:
    """Begin to take the claim, and be cancelled."""
    steps = held.session.run(held.acquire())
    next(steps)
    steps.close()


def test_what_was_broken_off_is_given_back() -> None:
    daemon = Scripted(CLAIMED, reply({"released": True, "latest_seq": 10}))
    held = lease(daemon)
    break_off(held)
    daemon.run(held.session, held.undo())
    assert [request.method for request in daemon.requests] == ["POST", "DELETE"]
    assert dict(daemon.requests[1].query) == {"key": "the-draft", "fence": "9"}


@pytest.mark.parametrize("outcome", [HELD, Unreachable(), problem("membership_not_found", 404)])
def test_what_cannot_be_given_back_is_left(outcome: Unreachable | Pieces) -> None:
    daemon = Scripted(*[outcome] * 50)
    held = lease(daemon)
    break_off(held)
    daemon.drive(held.session.run(held.undo()))
    assert daemon.now <= 1005


def test_nothing_is_given_back_between_two_attempts() -> None:
    daemon = Scripted(HELD)
    held = lease(daemon)
    with pytest.raises(ClaimConflictError):
        acquire(daemon, held)
    daemon.run(held.session, held.undo())
    assert len(daemon.requests) == 1


# --- keeping -------------------------------------------------------------------------------


def test_it_is_renewed_at_a_third_with_its_fence() -> None:
    daemon = Scripted(CLAIMED, RENEWED, RENEWED, NOT_HOLDER)
    held = taken(daemon)
    keep(daemon, held)
    assert daemon.pauses == [20, 20, 20]
    renewals = [request.body for request in daemon.requests[1:]]
    assert renewals == [{"key": "the-draft", "lease_s": 60, "fence": 9}] * 3
    assert len({request.key for request in daemon.requests}) == 4


def test_it_is_lost_when_another_holds_it() -> None:
    daemon = Scripted(CLAIMED, NOT_HOLDER)
    held = taken(daemon)
    keep(daemon, held)
    assert held.lost
    with pytest.raises(
        LeaseLostError, match=r"'the-draft' \(fence 9\) was lost: It is not_claim_h"
    ):
        held.check()


def test_it_is_lost_when_its_holder_left_the_room() -> None:
    daemon = Scripted(CLAIMED, problem("active_membership_not_found", 409, room="r"))
    held = taken(daemon)
    keep(daemon, held)
    assert held.lost


def test_it_lives_through_an_outage() -> None:
    daemon = Scripted(CLAIMED, *[Unreachable()] * 20, LOST, RENEWED, NOT_HOLDER)
    held = taken(daemon)
    keep(daemon, held)
    assert daemon.now > 1060


@pytest.mark.parametrize("away", [Unreachable(), LOST, Pieces(()), problem("internal_error", 500)])
def test_it_is_lost_when_it_cannot_be_renewed_before_it_ends(away: Unreachable | Pieces) -> None:
    daemon = Scripted(CLAIMED, *[away] * 200)
    held = taken(daemon)
    daemon.drive(held.session.run(held.keep()))
    assert held.lost
    assert 1057 < daemon.now <= 1060, "and not a moment after"


def test_an_error_of_the_daemon_says_nothing_about_the_claim() -> None:
    daemon = Scripted(CLAIMED, problem("internal_error", 500), RENEWED, NOT_HOLDER)
    held = taken(daemon)
    keep(daemon, held)
    assert daemon.pauses == [20, 1, 20]


def test_renewing_too_often_is_waited_out() -> None:
    limited = problem("rate_limited", 429, retry_after=10)
    daemon = Scripted(CLAIMED, limited, RENEWED, NOT_HOLDER)
    keep(daemon, taken(daemon))
    assert daemon.pauses == [20, 10, 20]


def test_it_counts_from_before_the_request_was_sent() -> None:
    slow = reply(documents.claimed(9), parked_s=25)
    daemon = Scripted(slow)
    held = taken(daemon)
    daemon.now = 1059.0
    assert not held.lost
    daemon.now = 1060.0
    assert held.lost
    with pytest.raises(LeaseLostError, match="could not be renewed in time"):
        held.check()


def test_after_a_long_sleep_of_the_machine_it_is_lost_unasked() -> None:
    daemon = Scripted(CLAIMED)
    held = taken(daemon)
    daemon.now += 3600
    keep(daemon, held)
    assert held.lost
    assert len(daemon.requests) == 1


# --- giving back ---------------------------------------------------------------------------


def test_only_this_lease_is_given_back() -> None:
    daemon = Scripted(CLAIMED, reply({"released": True, "latest_seq": 10}))
    held = taken(daemon)
    daemon.run(held.session, held.give_back())
    request = daemon.requests[1]
    assert (request.method, request.path) == ("DELETE", "/rooms/r/claims")
    assert dict(request.query) == {"key": "the-draft", "fence": "9"}


def test_a_release_whose_answer_was_lost_is_done() -> None:
    free = problem("not_claim_holder", 409, holder=None, expires_at=None)
    daemon = Scripted(CLAIMED, LOST, free)
    held = taken(daemon)
    daemon.run(held.session, held.give_back())
    assert not held.lost


def test_giving_back_what_another_holds_is_a_loss() -> None:
    left = problem("active_membership_not_found", 409, room="r")
    for refusal in (NOT_HOLDER, left):
        daemon = Scripted(CLAIMED, refusal)
        held = taken(daemon)
        with pytest.raises(LeaseLostError):
            daemon.run(held.session, held.give_back())
        assert held.lost
