"""Failures as agents read them."""

from __future__ import annotations

import logging

import pytest

from coordroomsd.domain.errors import Refusal, invalid_fields
from coordroomsd.mcp import catalogues
from coordroomsd.mcp.arguments import checked
from coordroomsd.mcp.failures import failure

SCHEMAS = catalogues.load().schemas


def test_a_refusal_keeps_what_it_says() -> None:
    refusal = Refusal("claim_conflict", "bob-1 has it.", fence=7, expires_at=None)
    assert failure(refusal, SCHEMAS["claim"]) == {
        "code": "claim_conflict",
        "message": "bob-1 has it.",
        "recovery": refusal.recovery,
        "fence": 7,
        "expires_at": None,
    }


@pytest.mark.parametrize(
    ("tool", "field", "named"),
    [
        ("create_room", "name", "roomName"),
        ("write_messages", "messages[1].reply_to", "messages[1].replyToMessageId"),
        ("write_messages", "messages[1].body", "messages[1].body"),
        ("list_room_messages", "after_seq", "afterId"),
        ("wait", "after_seq", "after_seq"),
        ("send_to_peer", "with", "to"),
        ("send_to_peer", "Idempotency-Key", "idempotency_key"),
        ("join_room", "Coordrooms-Conversation", "conversationId"),
        ("wait", "cursors.general", "cursors.general"),
    ],
)
def test_a_field_has_the_name_that_the_tool_has_for_it(tool: str, field: str, named: str) -> None:
    told = failure(invalid_fields([(field, "is wrong")]), SCHEMAS[tool])
    assert told["errors"] == [{"field": named, "problem": "is wrong"}]
    assert told["message"] == f"{named} is wrong"


def test_an_argument_that_no_tool_has_keeps_the_name_it_was_given() -> None:
    with pytest.raises(Refusal) as caught:
        checked(SCHEMAS["create_room"], {"name": "kitchen"})
    told = failure(caught.value, SCHEMAS["create_room"])
    assert told["message"] == "name is no argument of this tool; roomName is missing"


def test_advice_is_for_tools() -> None:
    told = failure(Refusal("conversation_required", "Nobody is named."), SCHEMAS["wait"])
    assert "conversationId" in told["recovery"]


def test_a_bug_is_logged_and_its_text_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        told = failure(ZeroDivisionError("secret"), SCHEMAS["wait"])
    assert told["code"] == "internal_error"
    assert "secret" not in str(told)
    assert told["error_id"] in caplog.text
    assert "secret" in caplog.text
