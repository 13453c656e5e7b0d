"""Following a room: every event once, in order, whatever the daemon goes through."""

from __future__ import annotations

from typing import Any

import pytest

from coordrooms.errors import DaemonUnreachableError
from coordrooms.events import Event, HistoryRestored, RetentionGap
from coordrooms.follows import Followed, Follower
from coordrooms.refusals import ActiveMembershipNotFoundError
from tests.unit.client import documents
from tests.unit.client.documents import message
from tests.unit.client.scripted import LOST, Pieces, Scripted, Unreachable, problem, reply


def follower(after_seq: int | None = None, patience_s: float = 600.0) -> Follower:
    return Follower("r", after_seq, ["message", "member"], 100, patience_s)


def follow(daemon: Scripted, following: Follower, turns: int) -> list[int | Followed]:
    """The numbers of so many turns' events, and what is no event."""
    session = daemon.session()
    items = [item for _ in range(turns) for item in daemon.drive(session.run(following.turn()))]
    assert not daemon.script
    return [item.seq if isinstance(item, Event) else item for item in items]


def queries(daemon: Scripted) -> list[dict[str, Any]]:
    return [dict(request.query) for request in daemon.requests]


def test_each_wait_begins_where_the_last_one_ended() -> None:
    daemon = Scripted(
        reply(documents.wait(4, message(5), message(7), next_after_seq=8, has_more=True)),
        reply(documents.wait(8, message(9))),
    )
    assert follow(daemon, follower(4), 2) == [5, 7, 9]
    assert [query["after_seq"] for query in queries(daemon)] == ["4", "8"]
    assert daemon.pauses == []


def test_without_a_number_it_begins_at_the_cursor() -> None:
    daemon = Scripted(reply(documents.wait(4, message(5))), reply(documents.wait(5, message(6))))
    assert follow(daemon, follower(), 2) == [5, 6]
    first, second = queries(daemon)
    assert "after_seq" not in first
    assert second["after_seq"] == "5"


def test_a_time_out_gives_what_came_and_goes_on() -> None:
    quiet = documents.wait(5, next_after_seq=6)
    joined = {**message(7), "type": "member", "reason": "joined"}
    daemon = Scripted(reply(quiet), reply(documents.wait(6, joined, reason="timeout")))
    assert follow(daemon, follower(5), 1) == [7]
    assert [query["after_seq"] for query in queries(daemon)] == ["5", "6"]


def test_a_restart_is_not_noticed() -> None:
    daemon = Scripted(
        reply(documents.wait(4, message(5))),
        reply(documents.wait(5, reason="closing")),
        *[Unreachable()] * 20,
        LOST,
        reply(documents.wait(5, message(6))),
    )
    assert follow(daemon, follower(4), 2) == [5, 6]
    assert [query["after_seq"] for query in queries(daemon)] == ["4", "5", "5", "5"]
    assert len(daemon.pauses) == 22


def test_what_came_with_the_closing_is_given_before_the_pause() -> None:
    daemon = Scripted(reply(documents.wait(4, message(5), reason="closing")))
    assert follow(daemon, follower(4), 1) == [5]
    assert daemon.pauses == []


def test_an_answer_that_was_lost_is_asked_for_again() -> None:
    torn = Pieces((b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{", b""))
    daemon = Scripted(torn, reply(documents.wait(4, message(5))))
    assert follow(daemon, follower(4), 1) == [5]
    assert [query["after_seq"] for query in queries(daemon)] == ["4", "4"]


def test_what_was_removed_is_told() -> None:
    gap = {"from_seq": 5, "to_seq": 6}
    daemon = Scripted(reply(documents.wait(4, message(7), retention_gap=gap)))
    assert follow(daemon, follower(4), 1) == [RetentionGap(from_seq=5, to_seq=6), 7]


def test_an_older_database_is_told_of_and_followed_from_its_own_cursor() -> None:
    daemon = Scripted(
        reply(documents.wait(4, message(5))),
        problem("generation_changed", 409, generation="g2", latest_seq=3),
        reply(documents.wait(2, message(3), generation="g2")),
        reply(documents.wait(3, message(4), generation="g2")),
    )
    restored = HistoryRestored(generation="g2", latest_seq=3)
    assert follow(daemon, follower(4), 4) == [5, restored, 3, 4]
    asked = [(query.get("after_seq"), query.get("generation")) for query in queries(daemon)]
    assert asked == [("4", None), ("5", "g1"), (None, "g2"), ("3", "g2")]


def test_leaving_ends_it() -> None:
    daemon = Scripted(problem("active_membership_not_found", 409, room="r"))
    with pytest.raises(ActiveMembershipNotFoundError):
        daemon.run(daemon.session(), follower(4).turn())


def test_its_patience_is_its_own() -> None:
    daemon = Scripted(*[Unreachable()] * 1000)
    with pytest.raises(DaemonUnreachableError):
        daemon.drive(daemon.session(patience_s=1).run(follower(4, patience_s=60).turn()))
    assert 55 < daemon.now - 1000 <= 60
