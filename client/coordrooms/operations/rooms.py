"""Rooms, members and participants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..answers import Joined, Left, Me, Overview
from ..calls import Call, Program, Query, do, idempotency
from ..escapes import path_segment
from ..models import Json, Member, Participant, RoomInfo
from ..refusals import RoomNameConflictError, RoomNotFoundError


def room_path(room: str, rest: str = "") -> str:
    return f"/rooms/{path_segment(room)}{rest}"


def me() -> Call[Me]:
    """Who is acting, the room it is active in, and its conversations."""
    return Call(method="GET", path="/me", parse=Me.from_json)


def rooms(state: Literal["active", "all"] = "active") -> Program[list[RoomInfo]]:
    """The project's rooms; `active` are those with an active member."""
    document = yield from room_list(state)
    return [RoomInfo.from_json(row) for row in document["rooms"]]


def room_list(state: str) -> Program[Json]:
    """`rooms` as the document that the daemon would answer if a page had no end."""
    return whole_list("/rooms", "rooms", "id", {"state": state})


def participants() -> Program[list[Participant]]:
    """Everybody of the project."""
    document = yield from whole_list("/participants", "participants", "conversation_id")
    return [Participant.from_json(row) for row in document["participants"]]


def create_room(name: str, *, idempotency_key: str | None = None) -> Call[Joined]:
    return Call(
        method="POST",
        path="/rooms",
        parse=Joined.from_json,
        body={"name": name},
        key=idempotency(idempotency_key),
    )


def join(room: str, *, idempotency_key: str | None = None) -> Call[Joined]:
    return Call(
        method="POST",
        path=room_path(room, "/join"),
        parse=Joined.from_json,
        key=idempotency(idempotency_key),
    )


def join_or_create(room: str) -> Program[Joined]:
    """Join, or make the room when there is none of that name."""
    return Joined.from_json((yield from joined_or_created(room)))


def joined_or_created(room: str) -> Program[Json]:
    """`join_or_create` as the document that the daemon answers."""
    joining, creating = as_document(join(room)), as_document(create_room(room))
    try:
        return (yield from do(joining))
    except RoomNotFoundError:
        pass
    try:
        return (yield from do(creating))
    except RoomNameConflictError:
        # Somebody else made it in between.
        return (yield from do(as_document(join(room))))


def leave(room: str, *, idempotency_key: str | None = None) -> Call[Left]:
    """Leave: claims are released and the status ends; history and the membership stay."""
    return Call(
        method="POST",
        path=room_path(room, "/leave"),
        parse=Left.from_json,
        key=idempotency(idempotency_key),
    )


def overview(room: str) -> Call[Overview]:
    """The room with its members and claims, in one call."""
    return Call(method="GET", path=room_path(room), parse=Overview.from_json)


def members(room: str) -> Call[list[Member]]:
    """Everybody who is or was in the room: status, what was shown, who waits."""
    return Call(
        method="GET",
        path=room_path(room, "/members"),
        parse=lambda data: [Member.from_json(row) for row in data["members"]],
    )


def whole_list(
    path: str, key: str, id_member: str, query: Mapping[str, str] | None = None
) -> Program[Json]:
    """All pages of a list as one document."""
    rows: list[Json] = []
    after: str | None = None
    while True:
        call = get_document(path, {**(query or {}), "after": after})
        page = yield from do(call)
        rows += page[key]
        if not page.get("has_more"):
            return {**page, key: rows}
        after = page[key][-1][id_member]


def get_document(path: str, query: Query) -> Call[Json]:
    return Call(method="GET", path=path, query=query, parse=_as_it_came)


def as_document(call: Call[Any]) -> Call[Json]:
    """The same call, answered by the JSON object as it came."""
    return call._replace(parse=_as_it_came)


def _as_it_came(data: Json) -> Json:
    return data
