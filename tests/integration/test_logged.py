"""What the daemon writes down of its calls: little, and nothing of what was said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.daemons import running
from tests.integration.callers import ListeningDaemon
from tests.integration.wires import Wire

BODY = "the kettle is on, says nobody"
MESSAGE = {"messages": [{"kind": "decision", "body": BODY}]}
# Such signs are allowed in an id.
HOSTILE = "eve%E2%80%AE);owned"
# A control character is not, wherever it is named.
WITH_A_LINE = "eve%0A2026-01-01 ERROR all is lost"


@pytest.fixture(scope="module")
def daemon() -> Iterator[ListeningDaemon]:
    config = '[log]\nformat = "json"\nlevel = "debug"\n'
    with running(ListeningDaemon(config=config)) as daemon:
        yield daemon


def lines(daemon: ListeningDaemon) -> list[dict[str, Any]]:
    # What greets the user on standard output is in the same file here.
    return [json.loads(line) for line in daemon.log().splitlines() if line.startswith("{")]


def test_a_refusal_is_a_line_and_a_call_is_none(daemon: ListeningDaemon) -> None:
    ann, eve = daemon.enrol("ann", "agent"), daemon.agent(HOSTILE)
    ann.ok("POST", "/rooms", {"name": "kitchen"})
    before = len(lines(daemon))
    for _ in range(20):
        ann.ok("POST", "/rooms/kitchen/messages", MESSAGE)
    assert len(lines(daemon)) == before

    assert eve.call("PUT", "/rooms/kitchen/retention", {"max_events": 1}).outcome == "forbidden"
    [line] = lines(daemon)[before:]
    line.pop("at")
    assert line == {
        "level": "warning",
        "logger": "coordroomsd.live.refusals",
        "message": "refused setRetention: forbidden",
        "code": "forbidden",
        "status": 403,
        "call": "setRetention",
        "origin": line["origin"],
        "participant": HOSTILE,
    }
    assert line["origin"].startswith("uid ")


def test_bodies_tokens_and_hostile_names_do_not_get_through(daemon: ListeningDaemon) -> None:
    bob = daemon.enrol("bob", "agent")
    bob.ok("POST", "/rooms", {"name": "pantry"})
    post = "/rooms/pantry/messages"
    kept = {"Idempotency-Key": "k"}
    for body in (
        {"messages": [{"kind": BODY, "body": BODY}]},
        {"messages": [{"kind": "answer", "body": BODY, "reply_to": 1}]},
        {"messages": [{"kind": "decision", "body": BODY}], BODY: BODY},
        {"messages": [{"kind": "decision", "body": BODY}]},
        {"messages": [{"kind": "warning", "body": BODY}]},
    ):
        bob.call("POST", post, body, headers=kept)
    wrong = {"Authorization": f"Bearer {bob.token}x"}
    assert bob.call("GET", "/rooms", headers=wrong).outcome == "unauthorized"
    assert bob.call("GET", f"/rooms/{BODY}".replace(" ", "%20")).outcome == "room_not_found"
    daemon.agent(HOSTILE).call("POST", post, {"messages": [{"kind": "warning", "body": BODY}]})
    daemon.agent(WITH_A_LINE).call("GET", "/me")
    with Wire(bob) as wire:
        wire.send(f"NONSENSE {BODY}\r\n\r\n".encode())
        wire.receive()
    # Without the names of its own places that it greets the user with.
    log = "\n".join(line for line in daemon.log().splitlines() if line.startswith("{"))
    codes = [line.get("code") for line in lines(daemon)]
    assert {"invalid_arguments", "unauthorized", "membership_not_found"} <= set(codes), log
    assert BODY not in log
    assert str(bob.token) not in log
    assert log.isascii()
    assert log.replace("\n", "").isprintable()
    assert not [line for line in lines(daemon) if line["level"] == "error"]


def test_a_client_that_goes_on_and_on_fills_no_disk(daemon: ListeningDaemon) -> None:
    eve = daemon.agent("eve")
    before = len(lines(daemon))
    for _ in range(300):
        assert eve.call("GET", "/rooms/nowhere").outcome == "room_not_found"
    assert len(lines(daemon)) - before < 20
    daemon.stop()
    told = [line for line in lines(daemon)[before:] if line.get("code") == "room_not_found"]
    assert sum(line.get("more", 1) for line in told) == 300
    daemon.start()
