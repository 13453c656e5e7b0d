"""Projects are worlds of their own: the same names in two of them mean different things."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.daemons import running
from tests.integration.callers import Caller, ListeningDaemon

ELSEWHERE = "elsewhere"
KEY = {"Idempotency-Key": "a-key"}


@pytest.fixture(scope="module")
def daemon() -> Iterator[ListeningDaemon]:
    """Both projects have a room `plan`, `ann` in it, `bob`, and a conversation of these two."""
    with running(ListeningDaemon()) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def here(daemon: ListeningDaemon) -> dict[str, Caller]:
    return _people(daemon, "default")


@pytest.fixture(scope="module")
def there(daemon: ListeningDaemon) -> dict[str, Caller]:
    return _people(daemon, ELSEWHERE)


def _people(daemon: ListeningDaemon, project: str) -> dict[str, Caller]:
    roles = {"ann": "agent", "bob": "agent", "pat": "human", "chief": "operator"}
    people = {name: daemon.enrol(name, role, project) for name, role in roles.items()}
    people["ann"].ok("POST", "/rooms", {"name": "plan"})
    people["bob"].ok("POST", "/rooms/plan/join")
    message = {"kind": "question", "body": f"said in {project}"}
    people["ann"].ok("POST", "/rooms/plan/messages", {"messages": [message]}, headers=KEY)
    thread = people["ann"].ok("POST", "/conversations", {"with": "bob"})["conversation"]["id"]
    people["ann"].ok("POST", f"/conversations/{thread}/messages", message, headers=KEY)
    return people


def test_the_same_names_in_both(here: dict[str, Caller], there: dict[str, Caller]) -> None:
    for people, project in ((here, "default"), (there, ELSEWHERE)):
        for name in ("ann", "pat", "chief"):
            page = people[name].ok("GET", "/rooms/plan/messages")
            assert [one["body"] for one in page["messages"]] == [f"said in {project}"]
            found = people[name].ok("GET", "/search", q="said")["results"]
            assert {one["message"]["body"] for one in found} == {f"said in {project}"}
        listed = people["pat"].ok("GET", "/participants")["participants"]
        assert {one["conversation_id"] for one in listed} == set(people)
        [room] = people["pat"].ok("GET", "/rooms")["rooms"]
        assert (room["slug"], room["project"]) == ("plan", project)
        [thread] = people["chief"].ok("GET", "/conversations")["conversations"]
        assert thread["project"] == project


def test_ids_of_the_other_project(here: dict[str, Caller], there: dict[str, Caller]) -> None:
    room = there["ann"].ok("GET", "/rooms/plan")["room"]["id"]
    [thread] = there["ann"].ok("GET", "/conversations")["conversations"]
    for caller in (*here.values(), here["ann"].over_socket()):
        for place in (room, thread["id"]):
            reply = caller.call("GET", f"/rooms/{place}/messages")
            assert (reply.outcome, "did_you_mean" in reply.body) == ("room_not_found", False)
            for path in ("/rooms", "/conversations"):
                assert caller.call("GET", path, after=place).outcome == "invalid_arguments"
            wait = {"cursors": {place: 0}, "timeout_s": 0}
            assert caller.call("POST", "/wait", wait).outcome == "room_not_found"
            cursor = {"cursors": {place: 0}}
            assert caller.call("POST", "/cursor", cursor).outcome == "room_not_found"


def test_a_key_is_a_projects_own(here: dict[str, Caller], there: dict[str, Caller]) -> None:
    """The same participant, route, room name and key, in two projects."""
    first = {"messages": [{"kind": "decision", "body": "one"}]}
    other = {"messages": [{"kind": "decision", "body": "two"}]}
    key = {"Idempotency-Key": "the-same"}
    sent = [(here, first), (there, other), (here, first), (there, other)]
    replies = [p["ann"].call("POST", "/rooms/plan/messages", body, headers=key) for p, body in sent]
    assert [reply.status for reply in replies] == [201] * 4
    bodies = [reply.body["messages"][0]["body"] for reply in replies]
    assert bodies == ["one", "two", "one", "two"]
    assert [reply.headers.get("idempotency-replayed") for reply in replies[2:]] == ["true"] * 2


def test_an_operator_rules_its_own_project(
    here: dict[str, Caller], there: dict[str, Caller]
) -> None:
    offer = {"name": "cat", "kind": "agent", "role": "agent"}
    assert there["chief"].call("POST", "/enrollments", offer | {"project": "default"}).outcome == (
        "forbidden"
    )
    code = there["chief"].ok("POST", "/enrollments", offer)["code"]
    token = there["ann"].ok("POST", "/enroll", {"code": code})["token"]
    cat = Caller(here["ann"].daemon, over="tcp", token=token)
    assert cat.ok("GET", "/rooms")["rooms"][0]["project"] == ELSEWHERE

    assert here["chief"].ok("DELETE", "/participants/cat/tokens") == {"revoked": 0}
    assert cat.call("GET", "/me").status == 200
    assert there["chief"].ok("DELETE", "/participants/cat/tokens") == {"revoked": 1}
    assert cat.call("GET", "/me").outcome == "unauthorized"
    assert here["ann"].call("GET", "/me").status == 200


def test_the_socket_is_of_the_default_project(
    daemon: ListeningDaemon, here: dict[str, Caller], there: dict[str, Caller]
) -> None:
    """Without a token it cannot speak for anybody elsewhere, whatever it names."""
    for name in ("ann", "ann/x", "cat"):
        rooms = daemon.agent(name).ok("GET", "/rooms", state="all")["rooms"]
        assert {room["project"] for room in rooms} == {"default"}
    messages = daemon.agent("ann").ok("GET", "/rooms/plan/messages")["messages"]
    assert messages[0]["body"] == "said in default"
    # An id that somebody has elsewhere is free here.
    offer = {"name": "dora", "kind": "human", "role": "human", "project": ELSEWHERE}
    code = daemon.operator.ok("POST", "/enrollments", offer)["code"]
    daemon.operator.ok("POST", "/enroll", {"code": code})
    assert daemon.agent("dora").call("GET", "/unread").status == 200
