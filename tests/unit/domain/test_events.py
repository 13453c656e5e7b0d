from __future__ import annotations

from datetime import timedelta

import orjson
import pytest

from coordroomsd.domain import ids
from coordroomsd.domain.events import (
    Event,
    EventType,
    Lease,
    Message,
    Payload,
    Reaction,
    StatusLine,
    author_wire,
    event_wire,
    payload_from,
    payload_wire,
)
from coordroomsd.domain.participants import Author
from tests.unit.domain.worlds import START

ADA = Author(7, "ada/laptop", "ada", "human")
LATER = START + timedelta(minutes=5)

PAYLOADS: list[tuple[EventType, Payload, dict[str, object]]] = [
    (
        "message",
        Message("answer", "because", 3),
        {"kind": "answer", "body": "because", "reply_to": 3},
    ),
    ("member", None, {}),
    (
        "status",
        StatusLine("reading", START, LATER),
        {
            "status": "reading",
            "since": "2026-01-01T00:00:00.000Z",
            "expires_at": "2026-01-01T00:05:00.000Z",
        },
    ),
    ("reaction", Reaction(3, "ack"), {"message_id": 3, "reaction": "ack"}),
    (
        "claim",
        Lease("the-draft", 9, LATER, None),
        {
            "key": "the-draft",
            "fence": 9,
            "expires_at": "2026-01-01T00:05:00.000Z",
            "proposed_by_seq": None,
        },
    ),
]


@pytest.mark.parametrize(("event_type", "payload", "wire"), PAYLOADS)
def test_a_payload_is_read_back_as_it_was_written(
    event_type: EventType, payload: Payload, wire: dict[str, object]
) -> None:
    assert payload_wire(payload) == wire
    assert payload_from(event_type, orjson.loads(orjson.dumps(payload_wire(payload)))) == payload


@pytest.mark.parametrize(("event_type", "payload", "wire"), PAYLOADS)
def test_an_event_on_the_wire_has_its_author_and_its_own_fields(
    event_type: EventType, payload: Payload, wire: dict[str, object]
) -> None:
    event = Event(9, event_type, "joined", START, ADA, False, payload)
    assert event_wire(event) == {
        "seq": 9,
        "type": event_type,
        "reason": "joined",
        "at": "2026-01-01T00:00:00.000Z",
        "author": author_wire(ADA),
        **wire,
    }


def test_what_the_daemon_does_names_whom_it_concerns() -> None:
    event = Event(9, "claim", "expired", START, ADA, True, Lease("k", 5, START, 2))
    wire = event_wire(event)
    assert wire["author"] is None
    assert wire["participant"] == author_wire(ADA)
    assert wire["proposed_by_seq"] == 2


def test_an_author_is_set_out_in_full() -> None:
    assert author_wire(ADA) == {
        "membership_id": ids.membership_id(7),
        "conversation_id": "ada/laptop",
        "name": "ada",
        "kind": "human",
    }


def test_an_event_is_its_author_s_own_unless_the_daemon_did_it() -> None:
    own = Event(1, "member", "joined", START, ADA, False, None)
    assert own.by(7)
    assert not own.by(8)
    assert not Event(2, "claim", "expired", START, ADA, True, Lease("k", 1, START, None)).by(7)
