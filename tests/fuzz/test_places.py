"""Every place there is, read by everyone: whoever may not read a page or stream learns nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest

from coordroomsd.api.call import Operation
from coordroomsd.api.operations import OPERATIONS
from tests.acceptance.daemons import running
from tests.fuzz.worlds import COMMON, Identity, World
from tests.integration.callers import Caller, ListeningDaemon

READING = [one for one in OPERATIONS if one.method == "GET"]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "waitInRoom": {"timeout_s": 0, "after_seq": 0},
    "search": {"q": COMMON, "limit": 100},
    "listRooms": {"state": "all"},
    "listConversationMessages": {"after_sequence": 0},
}
STREAM = {"Accept": "text/event-stream", "Last-Event-ID": "0"}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with running(ListeningDaemon()) as daemon:
        yield World(daemon)


def _paths(operation: Operation, world: World) -> list[str]:
    pools = {
        "room": world.rooms,
        "conversation": world.conversations,
        "message": ["1", "2", "3", "4"],
    }
    names = re.findall(r"{(\w+)}", operation.path)
    return [
        operation.path.format(**dict(zip(names, values, strict=True)))
        for values in itertools.product(*(pools[name] for name in names))
    ]


def _seen(identity: Identity, world: World, marks: frozenset[str]) -> set[str]:
    """Those marks that are in an answer whose request did not hold them."""
    found = set()
    for operation in READING:
        for path in _paths(operation, world):
            reply = identity.caller.call("GET", path, **ARGUMENTS.get(operation.id, {}))
            assert reply.status < 500, (operation.id, path, reply.content)
            text = reply.content.decode() + str(reply.headers)
            found |= {mark for mark in marks if mark in text and mark not in path}
    return found


@pytest.mark.parametrize("who", range(8))
def test_nothing_foreign_is_seen(world: World, who: int) -> None:
    identity = world.identities[who]
    assert _seen(identity, world, identity.foreign) == set()


def test_those_who_may_do_see_it(world: World) -> None:
    """So the marks are where the others would have found them."""
    chief, warden = world.identities[3], world.identities[5]
    by_chief = _seen(chief, world, world.marks["default"])
    by_warden = _seen(warden, world, world.marks["elsewhere"])
    assert by_chief == world.marks["default"]
    assert by_warden == world.marks["elsewhere"]


def _stream_status(caller: Caller, path: str) -> int:
    connection = caller.connection()
    try:
        connection.request("GET", f"/api/v1{path}", headers=caller.headers() | STREAM)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("who", range(8))
def test_a_stream_is_open_to_whom_a_page_is(world: World, who: int) -> None:
    caller = world.identities[who].caller
    for room in world.rooms:
        page = caller.call("GET", f"/rooms/{room}/events").status
        assert _stream_status(caller, f"/rooms/{room}/events") == page, room


def _like(known: str) -> str:
    """An id of the same form that nobody was ever given."""
    return known[:-1] + ("0" if known[-1] != "0" else "1")


@pytest.mark.parametrize(("who", "threads"), [(0, 3), (1, 3), (4, 3), (5, 2), (6, 2)])
def test_conversations_of_others_are_as_if_they_were_not(
    world: World, who: int, threads: int
) -> None:
    """`threads` is how many of them are others'. Word by word the same answer, to every call."""
    caller = world.identities[who].caller
    placed = [one for one in OPERATIONS if one.has_room and one.needs != "operator"]
    for operation, thread in itertools.product(placed, world.conversations[:threads]):
        replies = []
        for place in (thread, _like(thread)):
            values = {"room": place, "conversation": place, "message": "1", "reaction": "ack"}
            reply = caller.call(operation.method, operation.path.format(**values))
            replies.append((reply.status, reply.content.decode().replace(place, "…")))
        assert replies[0] == replies[1], operation.id
        assert replies[0][0] == 404
