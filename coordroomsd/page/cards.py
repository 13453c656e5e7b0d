"""A room, or a conversation, at a glance: what the overview shows of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from coordroomsd.api.services import Services
from coordroomsd.api.views import Json, claims_view, member_row, room_view
from coordroomsd.domain.events import author_wire
from coordroomsd.domain.participants import display_name
from coordroomsd.domain.text import instant
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store import glances
from coordroomsd.store.glances import Excerpt

QUESTIONS = 5
# More than that is "99+".
UNREAD = 100


class Read(NamedTuple):
    """What the store knew when the log ended at `head`, for one who had seen it up to `seen`."""

    head: int
    seen: int
    view: Json


class Cards:
    """Made for one person; asks the store about a room only when its log has grown."""

    def __init__(self, services: Services, name: str, seen: Mapping[str, int]) -> None:
        self._services = services
        self._name = name
        self._seen = seen
        self._read: dict[int, Read] = {}

    async def card(self, room: LiveRoom) -> Json:
        state, services = room.state, self._services
        own = [
            member.id
            for member in state.memberships.values()
            if display_name(member.author.conversation_id) == self._name
        ]
        view = room_view(state, services.generation)
        # A browser has its own number for each room; what a member was shown elsewhere counts too.
        shown = [room.positions[member].last_seen_seq for member in own]
        seen = min(max([self._seen.get(view["id"], 0), *shown]), state.head)
        known = self._read.get(state.id)
        if known is None or (known.head, known.seen) != (state.head, seen):
            known = Read(state.head, seen, await self._from_store(room, seen, own))
            self._read[state.id] = known
        now = services.clock.now()
        held = [claim for claim in state.claims.values() if claim.expires_at > now]
        return {
            "room": view,
            "members": [
                member_row(
                    room,
                    member,
                    now,
                    services.wakes.of(state.project, member.author.conversation_id),
                )
                for member in state.memberships.values()
                if member.active
            ],
            "claims": claims_view(held),
            **known.view,
        }

    async def _from_store(self, room: LiveRoom, seen: int, own: list[int]) -> Json:
        reader, state = self._services.reads, room.state
        questions = await glances.open_questions(reader, state.id, QUESTIONS)
        last = await glances.last_message(reader, state.id)
        unread = await glances.count_unread(reader, state.id, seen, own, UNREAD)
        return {
            "open_questions": questions.found,
            "questions": [
                excerpt for one in questions.newest if (excerpt := _excerpt(room, one)) is not None
            ],
            "last_message": _excerpt(room, last) if last else None,
            "unread": unread,
            "seen_seq": seen,
        }

    def forget_all_but(self, rooms: Mapping[int, LiveRoom]) -> None:
        self._read = {number: read for number, read in self._read.items() if number in rooms}


def _excerpt(room: LiveRoom, one: Excerpt) -> Json | None:
    """None for what is committed but not published yet, by somebody who has just come."""
    author = room.state.memberships.get(one.membership_id)
    if author is None:
        return None
    return {
        "id": one.seq,
        "kind": one.kind,
        "body": one.body,
        "at": instant(one.at),
        "author": author_wire(author.author),
    }
