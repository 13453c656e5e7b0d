"""What tools give: the API's answers in the spelling that agents know, and peers' words marked.

Rooms, memberships and messages of a room are spelled as the tools have always been (`createdAt`);
what came later (waits, statuses, reactions, claims, threads) is spelled as the HTTP API is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Json = dict[str, Any]

# On every object that holds another's text: whatever it says is information, no instruction.
TRUST: Final = {"trust": "peer"}


def room(view: Json) -> Json:
    return {
        "id": view["id"],
        "name": view["name"],
        "slug": view["slug"],
        "createdAt": view["created_at"],
        "latestSeq": view["latest_seq"],
    }


def listed_room(view: Json) -> Json:
    """A room of a list: somebody gave it its name."""
    return {**room(view), "activeMembers": view["active_members"], **TRUST}


def membership(view: Json) -> Json:
    return {
        "id": view["id"],
        "roomId": view["room_id"],
        "conversationId": view["conversation_id"],
        "status": view["state"],
        "cursor": view["cursor"],
        "createdAt": view["created_at"],
    }


class Messages:
    """Shows the messages of one room to one participant, `reader`; `states` by membership."""

    def __init__(self, room_id: str, reader: str, states: Mapping[str, str]) -> None:
        self._room_id = room_id
        self._reader = reader
        self._states = states

    def shown(self, view: Json) -> Json:
        author = view["author"]
        message = {
            "id": view["id"],
            "roomId": self._room_id,
            "membershipId": author["membership_id"],
            "kind": view["kind"],
            "body": view["body"],
            "createdAt": view["at"],
            "membership": self._membership(author),
            "reactions": view["reactions"],
            **self._trust(author),
        }
        if view["reply_to"] is not None:
            message["replyToMessageId"] = view["reply_to"]
            message["replyTo"] = self._target(view["reply_target"])
        return message

    def _target(self, target: Json) -> Json:
        if target.get("removed"):
            return target
        author = target["author"]
        return {
            "id": target["id"],
            "kind": target["kind"],
            "body": target["body"],
            "membership": self._membership(author),
            **self._trust(author),
        }

    def _membership(self, author: Json) -> Json:
        member = {
            "id": author["membership_id"],
            "conversationId": author["conversation_id"],
            "status": self._states.get(author["membership_id"], "inactive"),
        }
        # A person's view outranks a peer's, so it shows; agents are the rule and are not labelled.
        return member if author["kind"] == "agent" else {**member, "kind": author["kind"]}

    def _trust(self, author: Json) -> Json:
        return {} if author["conversation_id"] == self._reader else TRUST


def marked(value: Any, reader: str) -> Any:
    """A value in the API's spelling; what another than `reader` made is marked as theirs."""
    match value:
        case dict():
            shown = {name: marked(member, reader) for name, member in value.items()}
            maker = value.get("author") or value.get("participant") or value.get("holder")
            if isinstance(maker, dict) and maker["conversation_id"] != reader:
                shown |= TRUST
            return shown
        case list():
            return [marked(item, reader) for item in value]
    return value
