"""JSON as the daemon sends it."""

from __future__ import annotations

from typing import Any

AT = "2026-01-02T03:04:05.678Z"
ANN = {"membership_id": "m_1", "conversation_id": "ann-1", "name": "ann", "kind": "agent"}
BOB = {"membership_id": "m_2", "conversation_id": "bob-1", "name": "bob", "kind": "human"}


def room(**more: Any) -> dict[str, Any]:
    return {
        "id": "r_1",
        "name": "The Room",
        "slug": "the-room",
        "kind": "room",
        "project": "default",
        "created_at": AT,
        "latest_seq": 7,
        "first_seq": 1,
        "generation": "g1",
        **more,
    }


def membership(**more: Any) -> dict[str, Any]:
    return {
        "id": "m_1",
        "room_id": "r_1",
        "conversation_id": "ann-1",
        "state": "active",
        "cursor": 3,
        "created_at": AT,
        **more,
    }


def joined(**more: Any) -> dict[str, Any]:
    return {"room": room(), "membership": membership(), "next_after_seq": 3, **more}


def message(seq: int, body: str = "text", **more: Any) -> dict[str, Any]:
    """A message as it comes in a wait or in the log."""
    return {
        "seq": seq,
        "type": "message",
        "reason": None,
        "at": AT,
        "author": BOB,
        "kind": "decision",
        "body": body,
        "reply_to": None,
        **more,
    }


def wait(after_seq: int, *events: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The answer of a wait that began after a number."""
    last = events[-1]["seq"] if events else after_seq
    return {
        "room": "the-room",
        "reason": "event" if events else "timeout",
        "woken_by": [event["seq"] for event in events][:10],
        "events": list(events),
        "next_after_seq": last,
        "latest_seq": last,
        "has_more": False,
        "retention_gap": None,
        "generation": "g1",
        **more,
    }


def claim(fence: int = 9, key: str = "the-draft", **more: Any) -> dict[str, Any]:
    return {
        "key": key,
        "holder": ANN,
        "since": AT,
        "expires_at": AT,
        "fence": fence,
        "proposed_by_seq": None,
        **more,
    }


def claimed(fence: int = 9, *, renewed: bool = False) -> dict[str, Any]:
    return {"claim": claim(fence), "renewed": renewed, "latest_seq": fence}


def member(**more: Any) -> dict[str, Any]:
    return {
        **ANN,
        "state": "active",
        "cursor": 3,
        "created_at": AT,
        "status": None,
        "last_seen_seq": 3,
        "last_seen_at": AT,
        "waiting": False,
        **more,
    }


def posted(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"messages": list(messages), "latest_seq": messages[-1]["seq"]}
