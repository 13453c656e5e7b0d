"""Each code of the contract is a class of its own, and tells the reader what to do."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import coordrooms
from coordrooms.refusals import BY_CODE, RefusedError, refusal
from coordroomsd.domain.errors import CODES
from tests.unit.client.documents import ANN, AT


def refused(code: str, status: int = 409, **extra: object) -> RefusedError:
    document = {"code": code, "detail": "What happened.", "recovery": "What to do.", **extra}
    return refusal(document, status)


def test_every_code_of_the_daemon_has_a_class() -> None:
    assert BY_CODE.keys() == CODES.keys()
    assert len(set(BY_CODE.values())) == len(BY_CODE)


def test_every_class_is_public() -> None:
    assert [name for cls in BY_CODE.values() if not hasattr(coordrooms, name := cls.__name__)] == []


def test_a_refusal_says_what_to_do() -> None:
    error = refused("membership_not_found", 404)
    assert str(error) == "membership_not_found: What happened. What to do."
    assert (error.code, error.status) == ("membership_not_found", 404)
    assert (error.detail, error.recovery) == ("What happened.", "What to do.")


def test_a_code_of_a_newer_daemon() -> None:
    error = refused("too_many_hats", 409, hats=3)
    assert type(error) is RefusedError
    assert error.problem["hats"] == 3


def test_what_belongs_to_a_code() -> None:
    match refused("claim_conflict", holder=ANN, expires_at=AT, fence=7):
        case coordrooms.ClaimConflictError() as held:
            assert (held.holder and held.holder.name, held.fence) == ("ann", 7)
            assert held.expires_at == datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
        case other:
            pytest.fail(f"{other!r}")
    match refused("not_claim_holder", holder=None, expires_at=None):
        case coordrooms.NotClaimHolderError() as free:
            assert (free.holder, free.expires_at) == (None, None)
        case other:
            pytest.fail(f"{other!r}")
    match refused("room_not_found", did_you_mean="the-room"):
        case coordrooms.RoomNotFoundError() as lost:
            assert lost.did_you_mean == "the-room"
        case other:
            pytest.fail(f"{other!r}")
    match refused("unseen_messages", unseen=2, latest_seq=9):
        case coordrooms.UnseenMessagesError() as unseen:
            assert (unseen.unseen, unseen.latest_seq) == (2, 9)
        case other:
            pytest.fail(f"{other!r}")
    match refused("invalid_arguments", 400, errors=[{"field": "name", "problem": "is blank"}]):
        case coordrooms.InvalidArgumentsError() as invalid:
            assert invalid.errors == [{"field": "name", "problem": "is blank"}]
        case other:
            pytest.fail(f"{other!r}")
    match refused("active_membership_conflict", room="there"):
        case coordrooms.ActiveMembershipConflictError() as elsewhere:
            assert elsewhere.room == "there"
        case other:
            pytest.fail(f"{other!r}")
