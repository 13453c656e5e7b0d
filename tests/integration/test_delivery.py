"""What is unread, in the active room and in threads, and confirming it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.integration.daemons import Json, Party, Running, running


async def unread(party: Party, **query: Any) -> list[Json]:
    found: list[Json] = (await party.ok("GET", "/unread", **query))["unread"]
    return found


def said(one: Json) -> list[str]:
    return [message["body"] for message in one["messages"]]


@pytest.fixture(params=["from memory", "from the store"])
async def talk(
    request: pytest.FixtureRequest, connect_arguments: dict[str, Any]
) -> AsyncIterator[tuple[Party, Party]]:
    """Bob has said `a` to `e`, of three bytes each, in Ada's room; her cursor is before them."""
    async with running(connect_arguments) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        await ada.ok("POST", "/cursor", {"cursors": {"plan": 2}})
        for body in "abcde":
            await bob.say("plan", body * 3)
            await ada.say("plan", "own")
        if request.param == "from memory":
            yield ada, bob
    if request.param == "from the store":
        async with running(connect_arguments) as daemon:
            yield daemon.party("ada"), daemon.party("bob")


@pytest.mark.parametrize(
    ("query", "bodies", "through", "has_more"),
    [
        ({}, ["aaa", "bbb", "ccc", "ddd", "eee"], 12, False),
        ({"limit": 2}, ["aaa", "bbb"], 5, True),
        ({"limit": 5}, ["aaa", "bbb", "ccc", "ddd", "eee"], 12, False),
        ({"max_bytes": 6}, ["aaa", "bbb"], 5, True),
        ({"max_bytes": 1}, ["aaa"], 3, True),
        ({"max_bytes": 15}, ["aaa", "bbb", "ccc", "ddd", "eee"], 12, False),
    ],
)
async def test_others_messages_after_the_cursor(
    talk: tuple[Party, Party], query: Json, bodies: list[str], through: int, has_more: bool
) -> None:
    ada, _ = talk
    [one] = await unread(ada, **query)
    assert (said(one), one["through_seq"], one["has_more"]) == (bodies, through, has_more)
    assert await unread(ada, **query) == [one]


async def test_confirming_page_by_page_delivers_each_once(talk: tuple[Party, Party]) -> None:
    ada, _ = talk
    delivered: list[str] = []
    while True:
        [one] = await unread(ada, limit=2)
        delivered += said(one)
        await ada.ok("POST", "/cursor", {"cursors": {"plan": one["through_seq"]}})
        if not one["has_more"]:
            break
    assert delivered == ["aaa", "bbb", "ccc", "ddd", "eee"]
    [one] = await unread(ada)
    assert (said(one), one["through_seq"]) == ([], 12)


async def test_a_cursor_goes_forward_only(talk: tuple[Party, Party]) -> None:
    ada, _ = talk
    for seq, cursor in ((5, 5), (3, 5), (5, 5), (12, 12)):
        moved = await ada.ok("POST", "/cursor", {"cursors": {"plan": seq}})
        assert moved == {"cursors": {"plan": cursor}}
    await ada.refused("cursor_ahead", "POST", "/cursor", {"cursors": {"plan": 13}})
    stranger = Party(ada.daemon, "stranger")
    await stranger.refused("membership_not_found", "POST", "/cursor", {"cursors": {"plan": 1}})


async def test_one_bad_cursor_moves_none(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    thread = (await ada.ok("POST", "/conversations", {"with": "bob"}))["conversation"]["id"]
    await bob.say("plan")
    body = {"cursors": {"plan": 3, thread: 1}}
    await ada.refused("cursor_ahead", "POST", "/cursor", body)
    row = (await ada.ok("GET", "/rooms/plan/members"))["members"][0]
    assert row["cursor"] == 1


async def test_a_room_named_twice_is_refused(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    room_id = (await ada.ok("GET", "/rooms/plan"))["room"]["id"]
    body = {"cursors": {"plan": 1, room_id: 1}}
    await ada.refused("invalid_arguments", "POST", "/cursor", body)
    await ada.refused("invalid_arguments", "POST", "/wait", body)


async def test_threads_are_delivered_too(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    thread = (await ada.ok("POST", "/conversations", {"with": "bob"}))["conversation"]["id"]
    note = {"kind": "note", "body": "psst"}
    await bob.ok("POST", f"/conversations/{thread}/messages", note, idempotency_key="one")
    room, conversation = await unread(ada)
    assert (room["kind"], said(room)) == ("room", [])
    assert (conversation["room"], said(conversation)) == (thread, ["psst"])
    await ada.ok("POST", "/cursor", {"cursors": {thread: conversation["through_seq"]}})
    receipts = await bob.ok("GET", f"/rooms/{thread}/messages/1/receipts")
    assert [receipt["stage"] for receipt in receipts["receipts"]] == ["retrieved"]
    assert [said(one) for one in await unread(ada)] == [[], []]


async def test_without_a_room_there_are_the_threads_alone(daemon: Running) -> None:
    ada, _ = await daemon.room("plan", "ada", "bob")
    await ada.ok("POST", "/conversations", {"with": "bob"})
    await ada.leave("plan")
    assert [one["kind"] for one in await unread(ada)] == ["peer"]
    assert await unread(daemon.party("stranger")) == []
