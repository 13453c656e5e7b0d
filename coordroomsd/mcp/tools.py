"""What each tool does, as calls of the API. `waits.py` has the one that waits.

Arguments have passed `arguments.checked`: they have the advertised names, types and bounds. All
else is the API's to check, in its own order.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Final

from coordroomsd.mcp import results
from coordroomsd.mcp.agents import Agent, present, segment
from coordroomsd.mcp.cursors import Cursor
from coordroomsd.mcp.results import Json

Tool = Callable[[Agent, Json], Awaitable[Json]]

PAGE: Final = 1000
# An answer goes into the model's context, and twice over the wire: 200 KB of messages is the most.
HISTORY_MAX_BYTES: Final = 200_000


async def create_room(agent: Agent, given: Json) -> Json:
    return _entered(await agent.ask("POST", "/rooms", body={"name": given["roomName"]}))


async def join_room(agent: Agent, given: Json) -> Json:
    return _entered(await agent.ask("POST", f"/rooms/{segment(given['roomName'])}/join"))


async def leave_room(agent: Agent, given: Json) -> Json:
    left = await agent.ask("POST", f"/rooms/{segment(given['roomName'])}/leave")
    return {
        "room": results.room(left["room"]),
        "membership": results.membership(left["membership"]),
        # The room is no longer waited for; threads are, from their durable cursors.
        "next_cursor": str(Cursor(generation=left["room"]["generation"])),
    }


def _entered(entered: Json) -> Json:
    room = entered["room"]
    start = Cursor({room["slug"]: entered["next_after_seq"]}, room["generation"])
    return {
        "room": results.room(room),
        "membership": results.membership(entered["membership"]),
        "next_cursor": str(start),
    }


async def list_active_rooms(agent: Agent, given: Json) -> Json:
    rooms: list[Json] = []
    page: Json = {"has_more": True}
    while page["has_more"]:
        after = rooms[-1]["id"] if rooms else None
        page = await agent.ask("GET", "/rooms", query={"state": "active", "after": after})
        rooms += page["rooms"]
    return {"rooms": [results.listed_room(room) for room in rooms]}


async def list_room_messages(agent: Agent, given: Json) -> Json:
    shown = await agent.ask("GET", f"/rooms/{segment(given.get('room', '@active'))}")
    room = shown["room"]
    messages = _messages(agent, shown)
    after, left = given.get("afterId", 0), given.get("limit", HISTORY_MAX_BYTES)
    found: list[Json] = []
    gap, more, size = None, True, 0
    # From the beginning there is nothing that could be of another database.
    generation = agent.generation if after else None
    while more and left > 0 and size <= HISTORY_MAX_BYTES:
        page = await agent.ask(
            "GET",
            f"/rooms/{segment(room['id'])}/messages",
            query={"after_seq": after, "limit": min(left, PAGE), "generation": generation},
        )
        gap = gap or page["retention_gap"]
        after, more = page["next_after_seq"], page["has_more"]
        for view in page["messages"]:
            message = messages.shown(view)
            size += len(json.dumps(message, ensure_ascii=False).encode())
            if found and size > HISTORY_MAX_BYTES:
                after, more = found[-1]["id"], True
                break
            found.append(message)
        left -= len(page["messages"])
    return {
        "room": results.room(room),
        "messages": found,
        "hasMore": more,
        "nextAfterId": after,
        "retentionGap": gap,
        "next_cursor": str(Cursor({room["slug"] or room["id"]: after}, room["generation"])),
    }


async def write_messages(agent: Agent, given: Json) -> Json:
    shown = await agent.ask("GET", "/rooms/@active")
    drafts = [
        present(
            {
                "kind": message["kind"],
                "body": message["body"],
                "reply_to": message.get("replyToMessageId"),
            }
        )
        for message in given["messages"]
    ]
    stored = await agent.ask(
        "POST",
        f"/rooms/{segment(shown['room']['id'])}/messages",
        query={"generation": agent.generation},
        body=present({"messages": drafts, "after_seq": given.get("after_seq")}),
        key=given.get("idempotency_key"),
    )
    messages = _messages(agent, shown)
    return {**stored, "messages": [messages.shown(view) for view in stored["messages"]]}


def _messages(agent: Agent, shown: Json) -> results.Messages:
    """For the messages of a room as `GET /rooms/{room}` shows it."""
    states = {member["membership_id"]: member["state"] for member in shown["members"]}
    return results.Messages(shown["room"]["id"], agent.name, states)


async def set_status(agent: Agent, given: Json) -> Json:
    expiry = present({"expires_in_s": given.get("expires_in_s")})
    body = {"status": given["status"], **expiry}
    return await agent.ask("PUT", f"{_room(given)}/status", body=body)


async def react_to_message(agent: Agent, given: Json) -> Json:
    method = "PUT" if given["operation"] == "add" else "DELETE"
    message, reaction = segment(given["message_id"]), segment(given["reaction"])
    path = f"{_room(given)}/messages/{message}/reactions/{reaction}"
    query = {"after_seq": given.get("after_seq"), "generation": agent.generation}
    return await agent.ask(method, path, query=query)


async def claim(agent: Agent, given: Json) -> Json:
    names = ("key", "lease_s", "proposed_by_seq", "fence")
    body = present({name: given.get(name) for name in names})
    return await agent.ask("POST", f"{_room(given)}/claims", body=body)


async def release_claim(agent: Agent, given: Json) -> Json:
    query = {"key": given["key"], "fence": given.get("fence")}
    return await agent.ask("DELETE", f"{_room(given)}/claims", query=query)


async def list_claims(agent: Agent, given: Json) -> Json:
    held = await agent.ask("GET", f"{_room(given)}/claims")
    return {"claims": results.marked(held["claims"], agent.name)}


async def send_to_peer(agent: Agent, given: Json) -> Json:
    opened = await agent.ask("POST", "/conversations", body={"with": given["to"]})
    thread = opened["conversation"]["id"]
    body = present({name: given.get(name) for name in ("kind", "body", "reply_to")})
    path = f"/conversations/{segment(thread)}/messages"
    sent = await agent.ask("POST", path, body=body, key=given["idempotency_key"])
    return {"conversation": thread, "message": results.marked(sent["message"], agent.name)}


async def acknowledge(agent: Agent, given: Json) -> Json:
    thread, message = segment(given["conversation"]), segment(given["message_id"])
    return await agent.ask("POST", f"/conversations/{thread}/messages/{message}/ack")


def _room(given: Json) -> str:
    return f"/rooms/{segment(given['room'])}"


TOOLS: Final[dict[str, Tool]] = {
    tool.__name__: tool
    for tool in (
        create_room,
        join_room,
        leave_room,
        list_active_rooms,
        list_room_messages,
        write_messages,
        set_status,
        react_to_message,
        claim,
        release_claim,
        list_claims,
        send_to_peer,
        acknowledge,
    )
}
