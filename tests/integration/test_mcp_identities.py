"""A session over HTTP is no credential: each of its calls is made by whoever makes that call."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.acceptance.daemons import running
from tests.integration.callers import Caller, Json, ListeningDaemon
from tests.integration.mcp_sessions import Session
from tests.integration.wires import Wire
from tests.polling import block_until


@pytest.fixture(scope="module")
def daemon() -> Iterator[ListeningDaemon]:
    with running(ListeningDaemon()) as daemon:
        yield daemon


def test_another_in_the_same_session(daemon: ListeningDaemon) -> None:
    ann, eve = daemon.enrol("ann", "agent"), daemon.enrol("eve", "agent")
    session = Session(ann)
    session.result(ann, "create_room", roomName="the-plan", conversationId="ann")
    mine = session.result(ann, "list_room_messages", room="the-plan", conversationId="ann")
    assert "code" not in mine
    theirs = session.result(eve, "list_room_messages", room="the-plan", conversationId="eve")
    assert theirs["code"] == "membership_not_found"
    posing = session.result(eve, "list_room_messages", room="the-plan", conversationId="ann")
    assert posing["code"] == "conversation_not_yours"


def test_without_a_credential_it_opens_nothing(daemon: ListeningDaemon) -> None:
    dora = daemon.enrol("dora", "agent")
    session = Session(dora)
    for caller in (Caller(daemon, over="tcp"), Caller(daemon, over="tcp", token="A" * 43)):
        assert session.reply(caller, "list_active_rooms").outcome == "unauthorized"
    headers = {"Mcp-Session-Id": session.id, "Accept": "text/event-stream"}
    for method in ("GET", "DELETE"):
        reply = Caller(daemon, over="tcp").call(method, "/mcp", base="", headers=headers)
        assert reply.outcome == "unauthorized"
    assert "code" not in session.result(dora, "list_active_rooms")


def test_revoking_ends_it(daemon: ListeningDaemon) -> None:
    """Also a wait that is parked in it."""
    fay, host = daemon.enrol("fay", "agent"), daemon.agent("gil")
    session = Session(fay)
    session.result(fay, "create_room", roomName="a-room", conversationId="fay")
    host.ok("POST", "/rooms/a-room/join")
    found: list[Json] = []
    waiting = threading.Thread(
        target=lambda: found.append(
            session.result(fay, "wait", conversationId="fay", room="a-room", timeout_s=300)
        )
    )
    waiting.start()

    def is_parked() -> bool:
        assert waiting.is_alive(), found
        return any(m["waiting"] for m in host.ok("GET", "/rooms/a-room/members")["members"])

    block_until(is_parked)
    assert daemon.operator.ok("DELETE", "/participants/fay/tokens") == {"revoked": 1}
    waiting.join(60)
    assert [result["code"] for result in found] == ["unauthorized"]
    assert session.reply(fay, "list_active_rooms").outcome == "unauthorized"


def test_a_stream_of_the_session_tells_nobody_of_others(daemon: ListeningDaemon) -> None:
    """Whoever knows the id may open it with another credential, and sees nothing there."""
    hal, ivy = daemon.enrol("hal", "agent"), daemon.enrol("ivy", "agent")
    session = Session(hal)
    with Wire(ivy) as wire:
        lines = [
            ("Host", f"127.0.0.1:{daemon.port}"),
            ("Authorization", ivy.headers()["Authorization"]),
            ("Accept", "text/event-stream"),
            ("Mcp-Session-Id", session.id),
            ("MCP-Protocol-Version", "2025-06-18"),
        ]
        head = "".join(f"{name}: {value}\r\n" for name, value in lines)
        wire.send(f"GET /mcp HTTP/1.1\r\n{head}\r\n".encode())
        session.result(hal, "create_room", roomName="hidden-from-ivy", conversationId="hal")
        assert "code" not in session.result(hal, "list_active_rooms")
        daemon.stop()
        assert b"hidden-from-ivy" not in wire.rest()
        daemon.start()
