"""The check of what agents send."""

from __future__ import annotations

import math
from typing import Any

import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.mcp import catalogues
from coordroomsd.mcp.arguments import checked

SCHEMAS = catalogues.load().schemas


def faults(tool: str, given: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(Refusal) as refused:
        checked(SCHEMAS[tool], given)
    assert refused.value.code == "invalid_arguments"
    return {error["field"]: error["problem"] for error in refused.value.extra["errors"]}


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        ("join_room", {"room": "r"}, {"roomName": "r"}),
        ("join_room", {"room_name": "r"}, {"roomName": "r"}),
        ("claim", {"roomName": "r", "KEY": "k"}, {"room": "r", "key": "k"}),
        ("list_room_messages", {"after_seq": 3}, {"afterId": 3}),
        ("list_room_messages", {"conversation_id": "a"}, {"conversationId": "a"}),
        ("wait", {"afterId": 3, "timeoutS": 1.5}, {"after_seq": 3, "timeout_s": 1.5}),
        ("wait", {"wake_on": "status"}, {"wake_on": ["status"]}),
        ("wait", {"cursor": None, "room": None}, {}),
        (
            "write_messages",
            {"messages": [{"kind": "answer", "body": "x", "reply_to": 3}]},
            {"messages": [{"kind": "answer", "body": "x", "replyToMessageId": 3}]},
        ),
        ("set_status", {"room": "r", "status": None}, {"room": "r", "status": None}),
    ],
)
def test_spellings_are_understood(tool: str, given: dict[str, Any], meant: dict[str, Any]) -> None:
    assert checked(SCHEMAS[tool], given) == meant


def test_every_fault_is_named() -> None:
    message = {"kind": "chat", "body": " ", "replyToMessageId": "3", "to": "bob"}
    given = {"messages": [message, 7], "after_seq": -1, "lenght": 3, "conversationId": 5}
    assert faults("write_messages", given) == {
        "messages[0].kind": "should be one of decision, warning, question, answer, status",
        "messages[0].body": "must not be blank",
        "messages[0].replyToMessageId": "should be a whole number",
        "messages[0].to": "is no argument of this tool",
        "messages[1]": "should be an object",
        "after_seq": "should be from 0 to 9223372036854775807",
        "lenght": "is no argument of this tool",
        "conversationId": "should be text",
    }


@pytest.mark.parametrize(
    ("tool", "given", "field", "problem"),
    [
        ("join_room", {}, "roomName", "is missing"),
        ("join_room", {"roomName": None}, "roomName", "is missing"),
        ("set_status", {"room": "r"}, "status", "is missing"),
        ("set_status", {"room": "r", "status": 1}, "status", "should be text or null"),
        (
            "join_room",
            {"roomName": "a", "room": "b"},
            "room",
            "is roomName once more",
        ),
        ("claim", {"room": "r", "kee": "k", "key": "k"}, "kee", "is key meant?"),
        ("claim", {"room": "r", "key": "k", "lease_s": 59}, "lease_s", "from 60 to 86400"),
        ("claim", {"room": "r", "key": "k", "lease_s": True}, "lease_s", "a whole number"),
        ("claim", {"room": "r", "key": "k", "lease_s": 60.0}, "lease_s", "a whole number"),
        ("wait", {"timeout_s": 301}, "timeout_s", "from 0 to 300"),
        ("wait", {"timeout_s": math.nan}, "timeout_s", "from 0 to 300"),
        ("wait", {"after_seq": 10**5000}, "after_seq", "from 0 to"),
        ("wait", {"wake_on": ["status", 1]}, "wake_on[1]", "should be text"),
        ("wait", {"room": "\ud800"}, "room", "half of a surrogate pair"),
        ("wait", {"\ud800" * 200: 1}, "\\ud800" * 100, "is no argument"),
        ("write_messages", {"messages": []}, "messages", "has 0 items; 1 to 100"),
        ("write_messages", {"messages": [{}] * 101}, "messages", "has 101 items; 1 to 100"),
        ("write_messages", {"messages": "hi"}, "messages[0]", "should be an object"),
        ("list_active_rooms", {"limit": 3}, "limit", "is no argument"),
    ],
)
def test_a_fault_says_what_is_wrong(
    tool: str, given: dict[str, Any], field: str, problem: str
) -> None:
    assert problem in faults(tool, given)[field]
