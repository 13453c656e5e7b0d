"""Calls that are parked, and programs of several calls."""

from __future__ import annotations

from typing import Any

import pytest

from coordrooms.calls import Call, Work
from coordrooms.errors import DaemonUnreachableError
from coordrooms.operations import messages, rooms, waits
from coordrooms.refusals import MembershipNotFoundError
from tests.unit.client import documents
from tests.unit.client.scripted import LOST, Pieces, Scripted, Unreachable, problem, reply

POSTED = reply(documents.posted(documents.message(5, "hello")), 201)


def hello() -> Work[Any]:
    return messages.post("the room", "hello")


# --- waits ---------------------------------------------------------------------------------


def test_a_wait_that_was_lost_goes_on_for_the_rest_of_its_time() -> None:
    lost = Pieces((b"",), parked_s=40)
    daemon = Scripted(lost, reply(documents.wait(4)))
    daemon.run(daemon.session(), waits.wait("r", 4, timeout_s=50))
    first, second = (dict(request.query)["timeout_s"] for request in daemon.requests)
    assert float(first) == 50
    assert float(second) == pytest.approx(10, abs=0.1)


def test_a_wait_that_was_lost_on_a_kept_connection_goes_on_for_the_rest_too() -> None:
    lost = Pieces((b"",), parked_s=40)
    daemon = Scripted(POSTED, lost, reply(documents.wait(4)))
    session = daemon.session()
    daemon.drive(session.run(hello()))
    daemon.run(session, waits.wait("r", 4, timeout_s=50))
    assert float(dict(daemon.requests[2].query)["timeout_s"]) == pytest.approx(10, abs=0.1)


def test_each_restart_during_a_wait_is_an_outage_of_its_own() -> None:
    lost = Pieces((b"",), parked_s=40)
    away = [Unreachable()] * 6
    daemon = Scripted(lost, *away, lost, *away, lost, *away, reply(documents.wait(4)))
    daemon.run(daemon.session(patience_s=10), waits.wait("r", 4, timeout_s=300))


def test_a_daemon_that_drops_waits_at_once_is_not_asked_for_ever() -> None:
    daemon = Scripted(*[LOST] * 100)
    with pytest.raises(DaemonUnreachableError):
        daemon.drive(daemon.session(patience_s=10).run(waits.wait("r", 4, timeout_s=300)))
    assert daemon.now - 1000 <= 10


def test_a_wait_has_ten_seconds_more_than_the_daemon() -> None:
    daemon = Scripted(Pieces(()), Pieces(()))
    with pytest.raises(DaemonUnreachableError):
        daemon.run(daemon.session(patience_s=5), waits.wait("r", 4, timeout_s=50))
    # What is left of the wait after the first attempt is nothing, so the second is a glance.
    assert [dict(request.query)["timeout_s"] for request in daemon.requests] == ["50.0", "0.0"]
    assert daemon.now - 1000 == pytest.approx(70, abs=0.1)


# --- lists and programs --------------------------------------------------------------------


def test_a_list_is_read_to_its_end() -> None:
    pages = [
        {"rooms": [documents.room(id="r_1"), documents.room(id="r_2")], "has_more": True},
        {"rooms": [documents.room(id="r_3")], "has_more": False},
    ]
    daemon = Scripted(*map(reply, pages))
    listed = daemon.run(daemon.session(), rooms.rooms("all"))
    assert [room.id for room in listed] == ["r_1", "r_2", "r_3"]
    assert [request.query for request in daemon.requests] == [
        [("state", "all")],
        [("state", "all"), ("after", "r_2")],
    ]


@pytest.mark.parametrize(
    ("script", "paths"),
    [
        ([reply(documents.joined())], ["/rooms/x/join"]),
        ([problem("room_not_found", 404), reply(documents.joined())], ["/rooms/x/join", "/rooms"]),
        (
            [
                problem("room_not_found", 404),
                problem("room_name_conflict", 409),
                reply(documents.joined()),
            ],
            ["/rooms/x/join", "/rooms", "/rooms/x/join"],
        ),
    ],
    ids=["there", "not there", "made in between"],
)
def test_joining_makes_the_room_when_asked_to(script: list[Pieces], paths: list[str]) -> None:
    daemon = Scripted(*script)
    joined = daemon.run(daemon.session(), rooms.join_or_create("x"))
    assert joined.next_after_seq == 3
    assert [request.path for request in daemon.requests] == paths
    assert len({request.key for request in daemon.requests}) == len(paths)


def test_asking_waits_for_the_answer_to_that_question() -> None:
    question = documents.message(5, "Which port?", kind="question")
    other = documents.message(6, "localhost", kind="answer", reply_to=2)
    answer = documents.message(8, "8080", kind="answer", reply_to=5)
    daemon = Scripted(
        reply(documents.posted(question), 201),
        reply(documents.wait(5, other, has_more=True, next_after_seq=7)),
        reply(documents.wait(7, reason="closing")),
        reply(documents.wait(7, answer)),
    )
    asked = daemon.run(daemon.session(), messages.ask("r", "Which port?"))
    assert asked.answer is not None
    assert (asked.question.id, asked.answer.body) == (5, "8080")
    waited = [dict(request.query) for request in daemon.requests[1:]]
    assert [query["after_seq"] for query in waited] == ["5", "7", "7"]
    assert {query["wake_on"] for query in waited} == {"answer:5"}
    assert len(daemon.pauses) == 1, "before going on after `closing`"


def test_a_question_that_nobody_answers() -> None:
    question = documents.message(5, "Which port?", kind="question")
    daemon = Scripted(reply(documents.posted(question), 201), reply(documents.wait(5)))
    asked = daemon.run(daemon.session(), messages.ask("r", "Which port?", timeout_s=0))
    assert (asked.question.id, asked.answer) == (5, None)


def test_an_error_reaches_the_program_that_made_the_call() -> None:
    def program() -> Any:
        call: Call[Any] = rooms.me()
        try:
            yield call
        except MembershipNotFoundError as error:
            return error.status
        return None

    daemon = Scripted(problem("membership_not_found", 404))
    assert daemon.run(daemon.session(), program()) == 404
