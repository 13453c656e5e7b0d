"""Each tool but `wait`: what it asks the API, and what it makes of the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.mcp.tools import HISTORY_MAX_BYTES, TOOLS
from tests.unit.mcp.fakes import (
    Asked,
    FakeApi,
    Json,
    agent,
    author,
    membership,
    message,
    page,
    room,
    shown_room,
)

ROOM = {
    "id": "room_1",
    "name": "General",
    "slug": "general",
    "createdAt": "2026-11-30T12:00:00.000Z",
    "latestSeq": 9,
}
MEMBERSHIP = {
    "id": "member_ann",
    "roomId": "room_1",
    "conversationId": "ann-1",
    "status": "active",
    "cursor": 1,
    "createdAt": "2026-11-30T12:00:00.000Z",
}


async def called(api: FakeApi, tool: str, **given: Any) -> Json:
    return await TOOLS[tool](agent(api), given)


async def test_create_room() -> None:
    api = FakeApi(
        {"POST /rooms": {"room": room(), "membership": membership(), "next_after_seq": 1}}
    )
    assert await called(api, "create_room", roomName="General") == {
        "room": ROOM,
        "membership": MEMBERSHIP,
        "next_cursor": "general:1@g1",
    }
    assert api.asked == [Asked("POST", "/rooms", "ann-1", body={"name": "General"})]


async def test_join_room_by_a_name_that_needs_escapes() -> None:
    joined = {"room": room(), "membership": membership(), "next_after_seq": 7}
    api = FakeApi({"POST /rooms/Caf%C3%A9%20%25/join": joined})
    assert (await called(api, "join_room", roomName="Café %"))["next_cursor"] == "general:7@g1"


async def test_leave_room() -> None:
    left = {"room": room(), "membership": membership("inactive")}
    api = FakeApi({"POST /rooms/general/leave": left})
    answer = await called(api, "leave_room", roomName="general")
    assert answer["membership"]["status"] == "inactive"
    assert answer["next_cursor"] == "@g1"


async def test_list_active_rooms_is_complete() -> None:
    pages: list[Any] = [
        {"rooms": [room() | {"active_members": 2}], "has_more": True},
        {"rooms": [room("other", "room_2") | {"active_members": 1}], "has_more": False},
    ]
    api = FakeApi({"GET /rooms": pages})
    rooms = (await called(api, "list_active_rooms"))["rooms"]
    assert rooms[0] == ROOM | {"activeMembers": 2, "trust": "peer"}
    assert [asked.query for asked in api.asked] == [
        {"state": "active"},
        {"state": "active", "after": "room_1"},
    ]
    assert rooms[1]["id"] == "room_2"


async def test_the_history_shows_authors_and_targets_and_marks_peers() -> None:
    target = {"id": 3, "kind": "question", "body": "Which port?", "author": author("ann")}
    api = FakeApi(
        {
            "GET /rooms/@active": shown_room(("ann", "active"), ("bob", "inactive")),
            "GET /rooms/room_1/messages": page(
                message(3, "ann", kind="question", body="Which port?"),
                message(4, "bob", kind="answer", body="8080", reply_to=3, reply_target=target),
            ),
        }
    )
    answer = await called(api, "list_room_messages")
    own, theirs = answer.pop("messages")
    assert answer == {
        "room": ROOM,
        "hasMore": False,
        "nextAfterId": 4,
        "retentionGap": None,
        "next_cursor": "general:4@g1",
    }
    assert "trust" not in own
    assert "replyTo" not in own
    assert own["membership"]["status"] == "active"
    assert theirs == {
        "id": 4,
        "roomId": "room_1",
        "membershipId": "member_bob",
        "kind": "answer",
        "body": "8080",
        "createdAt": "2026-11-30T12:00:01.000Z",
        "membership": {"id": "member_bob", "conversationId": "bob-1", "status": "inactive"},
        "reactions": {"counts": {}},
        "trust": "peer",
        "replyToMessageId": 3,
        "replyTo": {
            "id": 3,
            "kind": "question",
            "body": "Which port?",
            "membership": {"id": "member_ann", "conversationId": "ann-1", "status": "active"},
        },
    }


async def test_the_history_shows_what_was_removed_and_who_is_a_person() -> None:
    removed = message(4, reply_to=2, reply_target={"id": 2, "removed": True})
    person = message(5, author=author("eve", "human"))
    gap = {"from_seq": 1, "to_seq": 3}
    api = FakeApi(
        {
            "GET /rooms/general": shown_room(),
            "GET /rooms/room_1/messages": page(removed, person, retention_gap=gap),
        }
    )
    answer = await called(api, "list_room_messages", room="general")
    assert answer["retentionGap"] == gap
    assert answer["messages"][0]["replyTo"] == {"id": 2, "removed": True}
    assert answer["messages"][1]["membership"]["kind"] == "human"


async def test_the_history_comes_in_pages_and_whole() -> None:
    pages: list[Any] = [page(message(3), has_more=True), page(message(7))]
    api = FakeApi({"GET /rooms/@active": shown_room(), "GET /rooms/room_1/messages": pages})
    answer = await called(api, "list_room_messages")
    assert [shown["id"] for shown in answer["messages"]] == [3, 7]
    asked = [dict(asked.query) for asked in api.asked[1:]]
    assert asked == [{"after_seq": "0", "limit": "1000"}, {"after_seq": "3", "limit": "1000"}]


async def test_a_part_of_the_history_says_that_there_is_more() -> None:
    pages: list[Any] = [page(message(3), message(4), has_more=True)]
    api = FakeApi({"GET /rooms/@active": shown_room(), "GET /rooms/room_1/messages": pages})
    answer = await called(api, "list_room_messages", afterId=2, limit=2)
    assert (answer["hasMore"], answer["nextAfterId"]) == (True, 4)
    assert api.asked[1].query == {"after_seq": "2", "limit": "2"}


@pytest.mark.parametrize("size", [HISTORY_MAX_BYTES // 4, HISTORY_MAX_BYTES * 2])
async def test_a_long_history_ends_at_a_message_and_can_be_read_on(size: int) -> None:
    long = page(*(message(seq, body="x" * size) for seq in range(3, 20)), has_more=True)
    api = FakeApi({"GET /rooms/@active": shown_room(), "GET /rooms/room_1/messages": long})
    answer = await called(api, "list_room_messages")
    last = answer["messages"][-1]["id"]
    assert len(answer["messages"]) == max(1, HISTORY_MAX_BYTES // size - 1)
    assert (answer["hasMore"], answer["nextAfterId"]) == (True, last)
    assert answer["next_cursor"] == f"general:{last}@g1"


async def test_write_messages() -> None:
    stored = {"messages": [message(4, "ann")], "latest_seq": 4, "unseen_before_send": 1}
    api = FakeApi(
        {
            "GET /rooms/@active": shown_room(("ann", "active")),
            "POST /rooms/room_1/messages": stored,
        }
    )
    drafts = [
        {"kind": "decision", "body": "hello"},
        {"kind": "answer", "body": "8080", "replyToMessageId": 3},
    ]
    answer = await called(api, "write_messages", messages=drafts, after_seq=2, idempotency_key="k")
    assert (answer["latest_seq"], answer["unseen_before_send"]) == (4, 1)
    [shown] = answer["messages"]
    assert (shown["roomId"], shown["membership"]["status"]) == ("room_1", "active")
    assert "trust" not in shown
    sent = {
        "messages": [
            {"kind": "decision", "body": "hello"},
            {"kind": "answer", "body": "8080", "reply_to": 3},
        ],
        "after_seq": 2,
    }
    assert api.asked[1] == Asked("POST", "/rooms/room_1/messages", "ann-1", body=sent, key="k")


@pytest.mark.parametrize(
    ("tool", "given", "asked"),
    [
        (
            "set_status",
            {"room": "r", "status": None},
            Asked("PUT", "/rooms/r/status", "ann-1", body={"status": None}),
        ),
        (
            "set_status",
            {"room": "r", "status": "drafting", "expires_in_s": 60},
            Asked(
                "PUT",
                "/rooms/r/status",
                "ann-1",
                body={"status": "drafting", "expires_in_s": 60},
            ),
        ),
        (
            "react_to_message",
            {"room": "r", "message_id": 3, "reaction": "ack", "operation": "add", "after_seq": 2},
            Asked("PUT", "/rooms/r/messages/3/reactions/ack", "ann-1", {"after_seq": "2"}),
        ),
        (
            "react_to_message",
            {"room": "r", "message_id": 3, "reaction": "ack", "operation": "remove"},
            Asked("DELETE", "/rooms/r/messages/3/reactions/ack", "ann-1"),
        ),
        (
            "claim",
            {"room": "a/b", "key": "k", "fence": 3},
            Asked("POST", "/rooms/a%2Fb/claims", "ann-1", body={"key": "k", "fence": 3}),
        ),
        (
            "release_claim",
            {"room": "r", "key": "k", "fence": 3},
            Asked("DELETE", "/rooms/r/claims", "ann-1", {"key": "k", "fence": "3"}),
        ),
        (
            "acknowledge",
            {"conversation": "room_t", "message_id": 3},
            Asked("POST", "/conversations/room_t/messages/3/ack", "ann-1"),
        ),
    ],
)
async def test_what_is_handed_on_as_it_is(tool: str, given: Json, asked: Asked) -> None:
    api = FakeApi({f"{asked.method} {asked.path}": {"latest_seq": 5}})
    assert await called(api, tool, **given) == {"latest_seq": 5}
    assert api.asked == [asked]


async def test_list_claims_marks_those_of_others() -> None:
    claims = [{"key": "a", "holder": author("ann")}, {"key": "b", "holder": author("bob")}]
    api = FakeApi({"GET /rooms/r/claims": {"claims": claims}})
    own, theirs = (await called(api, "list_claims", room="r"))["claims"]
    assert "trust" not in own
    assert theirs == claims[1] | {"trust": "peer"}


async def test_send_to_peer() -> None:
    sent = message(1, "ann", body="Done?")
    api = FakeApi(
        {
            "POST /conversations": {"conversation": room(None, "room_t")},
            "POST /conversations/room_t/messages": {"message": sent, "latest_seq": 1},
        }
    )
    given = {"kind": "question", "body": "Done?", "idempotency_key": "k"}
    answer = await called(api, "send_to_peer", to="bob-1", **given)
    assert answer == {"conversation": "room_t", "message": sent}
    opened, posted = api.asked
    assert opened.body == {"with": "bob-1"}
    assert (posted.body, posted.key) == ({"kind": "question", "body": "Done?"}, "k")


async def test_the_participant_goes_out_as_a_header_carries_it() -> None:
    api = FakeApi({"GET /rooms": {"rooms": [], "has_more": False}})
    await TOOLS["list_active_rooms"](agent(api, "zoë %41/x"), {})
    assert api.asked[0].conversation == "zo%C3%AB%20%2541/x"


async def test_numbers_are_sent_with_the_generation_they_are_of() -> None:
    reaction = "PUT /rooms/general/messages/4/reactions/ack"
    answer = {"messages": [], "latest_seq": 9}
    api = FakeApi(
        {
            "GET /rooms/general": shown_room(),
            "GET /rooms/@active": shown_room(),
            "GET /rooms/room_1/messages": page(),
            "POST /rooms/room_1/messages": answer,
            reaction: answer,
        }
    )
    given: dict[str, Json] = {
        "list_room_messages": {"room": "general", "afterId": 4},
        "write_messages": {"messages": []},
        "react_to_message": {
            "room": "general", "message_id": 4, "reaction": "ack", "operation": "add"
        },
    }  # fmt: skip
    for tool, arguments in given.items():
        await TOOLS[tool](replace(agent(api), generation="g0"), arguments)
        assert api.asked[-1].query["generation"] == "g0"
    # Who reads from the beginning has no number of an older database.
    await TOOLS["list_room_messages"](replace(agent(api), generation="g0"), {"room": "general"})
    assert "generation" not in api.asked[-1].query


async def test_a_refusal_passes_with_all_that_it_says() -> None:
    refusal = Refusal("active_membership_conflict", "You are in general.", room="general")
    api = FakeApi({"POST /rooms": refusal})
    with pytest.raises(Refusal) as refused:
        await called(api, "create_room", roomName="r")
    assert refused.value.problem() == refusal.problem()
