from __future__ import annotations

import pytest

from coordroomsd.domain.errors import CODES, Refusal, invalid, invalid_fields

# The table of the wire contract.
STATUSES = {
    "invalid_arguments": 400,
    "conversation_required": 400,
    "idempotency_key_required": 400,
    "unauthorized": 401,
    "enrollment_invalid": 401,
    "forbidden": 403,
    "conversation_not_yours": 403,
    "origin_not_allowed": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "room_not_found": 404,
    "message_not_found": 404,
    "participant_not_found": 404,
    "membership_not_found": 404,
    "active_membership_not_found": 409,
    "room_name_conflict": 409,
    "participant_conflict": 409,
    "active_membership_conflict": 409,
    "claim_conflict": 409,
    "not_claim_holder": 409,
    "reply_target_invalid": 409,
    "unseen_messages": 409,
    "cursor_ahead": 409,
    "generation_changed": 409,
    "own_message": 409,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "host_not_allowed": 421,
    "idempotency_key_reused": 422,
    "rate_limited": 429,
    "too_many_waiters": 503,
    "store_unavailable": 503,
    "internal_error": 500,
}

# When a call that met the daemon's limits, and not its caller's, may come again.
RETRY_AFTER_S = {"too_many_waiters": 5, "store_unavailable": 1}


def test_the_codes_and_statuses_are_the_contract_s() -> None:
    assert {code: kind.status for code, kind in CODES.items()} == STATUSES


@pytest.mark.parametrize("code", STATUSES)
def test_every_code_says_what_to_do_next_in_one_sentence(code: str) -> None:
    kind = CODES[code]
    assert kind.title
    assert not kind.title.endswith(".")
    assert kind.recovery[0].isupper()
    assert kind.recovery.endswith(".")
    assert kind.recovery.count(". ") == 0


@pytest.mark.parametrize("code", STATUSES)
def test_a_refusal_is_a_problem_document(code: str) -> None:
    refusal = Refusal(code, "What happened.", room="plan")
    retry = {"retry_after_s": RETRY_AFTER_S[code]} if code in RETRY_AFTER_S else {}
    assert refusal.problem() == retry | {
        "type": f"urn:coordrooms:{code}",
        "title": CODES[code].title,
        "status": STATUSES[code],
        "code": code,
        "detail": "What happened.",
        "recovery": CODES[code].recovery,
        "room": "plan",
    }
    assert refusal.status == STATUSES[code]
    assert str(refusal) == f"{code}: What happened."


def test_a_refusal_may_have_a_recovery_of_its_own() -> None:
    assert Refusal("forbidden", "No.", recovery="Ask.").problem()["recovery"] == "Ask."


def test_an_unknown_code_is_a_bug() -> None:
    with pytest.raises(KeyError):
        Refusal("no_such_code", "What happened.")


def test_invalid_arguments_name_every_fault() -> None:
    faults = [(f"field{number}", "is missing") for number in range(7)]
    refusal = invalid_fields(faults)
    assert refusal.extra["errors"] == [
        {"field": field, "problem": problem} for field, problem in faults
    ]
    assert refusal.detail.startswith("field0 is missing; field1 is missing; ")
    assert refusal.detail.endswith("; and 2 more")


def test_a_fault_of_the_whole_body_has_no_field() -> None:
    refusal = invalid("", "is no JSON")
    assert refusal.detail == "is no JSON"
    assert refusal.extra["errors"] == [{"field": "", "problem": "is no JSON"}]
