"""Streaming a room's log: every event once, in order, whatever the daemon goes through."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coordrooms.errors import DaemonUnreachableError, UnexpectedAnswerError
from coordrooms.events import Event, HistoryRestored, RetentionGap, event
from coordrooms.refusals import ActiveMembershipNotFoundError, RoomNotFoundError
from coordrooms.streams import EventStream
from tests.unit.client import documents
from tests.unit.client.scripted import LOST, Pieces, Scripted, Unreachable, problem, reply

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"

OVERVIEW = reply({"room": documents.room(), "members": [], "claims": []})


def chunk(text: str) -> bytes:
    data = text.encode()
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def frame(seq: int) -> bytes:
    return chunk(f"id: {seq}\ndata: {json.dumps(documents.message(seq))}\n\n")


def named(name: str, data: Any) -> bytes:
    return chunk(f"event: {name}\ndata: {json.dumps(data)}\n\n")


CLOSING = named("closing", {"reason": "closing"})


def stream(
    daemon: Scripted, turns: int, after_seq: int | None = None
) -> tuple[list[int | RetentionGap | HistoryRestored], EventStream[Event]]:
    """The numbers of so many turns' events, and gaps; and the stream itself."""
    session = daemon.session()
    streamed = EventStream(session, "r", after_seq, 600.0, event)
    items = [item for _ in range(turns) for item in daemon.drive(session.run(streamed.turn()))]
    assert not daemon.script
    return [item.seq if isinstance(item, Event) else item for item in items], streamed


def asked(daemon: Scripted) -> list[dict[str, str]]:
    return [dict(request.query) for request in daemon.requests if request.path == "/rooms/r/events"]


def test_events_as_they_come() -> None:
    daemon = Scripted(OVERVIEW, Pieces((HEAD, chunk("retry: 1000\n\n"), frame(8), frame(9))))
    assert stream(daemon, 2)[0] == [8, 9]
    request = daemon.requests[1]
    assert request.headers["accept"] == "text/event-stream"
    assert dict(request.query) == {"after_seq": "7", "generation": "g1"}


def test_events_that_come_with_the_head() -> None:
    daemon = Scripted(OVERVIEW, Pieces((HEAD + frame(1) + frame(2),)))
    assert stream(daemon, 1, after_seq=0)[0] == [1, 2]


def test_a_frame_in_pieces() -> None:
    whole = HEAD + frame(8)
    pieces = Pieces(tuple(whole[n : n + 9] for n in range(0, len(whole), 9)))
    assert stream(Scripted(OVERVIEW, pieces), 1)[0] == [8]


def test_what_was_removed_is_told() -> None:
    gap = {"from_seq": 1, "to_seq": 6}
    daemon = Scripted(OVERVIEW, Pieces((HEAD, named("gap", gap), frame(7))))
    assert stream(daemon, 2, after_seq=0)[0] == [RetentionGap(from_seq=1, to_seq=6), 7]


@pytest.mark.parametrize(
    "break_off",
    [
        (CLOSING, END),
        (CLOSING + END,),
        (END,),
        (b"",),
        (ConnectionResetError(104, "reset"),),
        (chunk("id: 10\ndata: {"), b""),
    ],
    ids=["closing", "closing at once", "ended", "closed", "reset", "torn"],
)
def test_a_restart_is_not_noticed(break_off: tuple[bytes | OSError, ...]) -> None:
    daemon = Scripted(
        OVERVIEW,
        Pieces((HEAD, frame(8), frame(9), *break_off)),
        Unreachable(),
        LOST,
        problem("store_unavailable", 503),
        Pieces((HEAD, frame(10))),
    )
    assert stream(daemon, 3)[0] == [8, 9, 10]
    assert [query["after_seq"] for query in asked(daemon)] == ["7", "9", "9", "9"]
    assert {query["generation"] for query in asked(daemon)} == {"g1"}
    assert len(daemon.pauses) == 4
    assert [connection.closed for connection in daemon.connections[1:]] == [True, True, True, False]


def test_a_stream_that_falls_silent_is_opened_again() -> None:
    daemon = Scripted(OVERVIEW, Pieces((HEAD,)), Pieces((HEAD, frame(8))))
    assert stream(daemon, 1)[0] == [8]
    assert 45 <= daemon.now - 1000 < 46


def test_an_older_database_is_told_of_and_read_from_its_beginning() -> None:
    daemon = Scripted(
        OVERVIEW,
        Pieces((HEAD, frame(8), b"")),
        problem("generation_changed", 409, generation="g2", latest_seq=2),
        Pieces((HEAD, frame(1) + frame(2))),
    )
    restored = HistoryRestored(generation="g2", latest_seq=2)
    assert stream(daemon, 3)[0] == [8, restored, 1, 2]
    assert [(query["after_seq"], query["generation"]) for query in asked(daemon)] == [
        ("7", "g1"),
        ("8", "g1"),
        ("0", "g2"),
    ]


def test_heartbeats_make_the_next_outage_a_new_one() -> None:
    away = [Unreachable()] * 300
    beat = Pieces((HEAD, chunk(": heartbeat\n\n"), b""))
    daemon = Scripted(OVERVIEW, beat, *away, beat, *away, Pieces((HEAD, frame(8))))
    assert stream(daemon, 1)[0] == [8]
    assert daemon.now - 1000 > 600


def test_a_stream_that_is_refused() -> None:
    daemon = Scripted(problem("room_not_found", 404))
    with pytest.raises(RoomNotFoundError):
        stream(daemon, 1)
    daemon = Scripted(OVERVIEW, Pieces((HEAD, named("closing", {"reason": "left"}))))
    daemon.script.append(problem("active_membership_not_found", 409, room="r"))
    with pytest.raises(ActiveMembershipNotFoundError):
        stream(daemon, 1)


def test_a_stream_of_another_program() -> None:
    daemon = Scripted(OVERVIEW, Pieces((b"SSH-2.0\r\n\r\n",)))
    with pytest.raises(UnexpectedAnswerError):
        stream(daemon, 1)
    assert daemon.connections[-1].closed


def test_patience_ends() -> None:
    daemon = Scripted(OVERVIEW, Pieces((HEAD, frame(8), b"")), *[Unreachable()] * 1000)
    session = daemon.session()
    streamed = EventStream(session, "r", None, 60.0, event)
    daemon.drive(session.run(streamed.turn()))
    with pytest.raises(DaemonUnreachableError):
        daemon.drive(session.run(streamed.turn()))
    assert 55 < daemon.now - 1000 <= 61


def test_closing_a_stream_closes_its_connection() -> None:
    daemon = Scripted(OVERVIEW, Pieces((HEAD, frame(8))))
    _, streamed = stream(daemon, 1)
    streamed.close()
    assert daemon.connections[-1].closed
