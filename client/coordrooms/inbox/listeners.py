"""Filling an inbox: everything that others say in a participant's conversations, each once."""

from __future__ import annotations

from typing import NamedTuple

from ..calls import Program, do
from ..models import RoomInfo
from ..operations.conversations import conversations
from ..operations.waits import confirm
from ..refusals import CursorAheadError, GenerationChangedError
from .documents import arrivals
from .entries import Entry, Gap
from .stores import Inbox

# How often to look whether anything came. A parked wait would tell sooner, and wrongly: its answer
# counts as retrieved when the daemon sends it, and so do events and streams, while a message is to
# count as retrieved when it is in the inbox. The list of conversations counts as nothing, not even
# as a sign of life of the agent that is listened for; it costs the daemon half a millisecond.
LOOK_EVERY_S = 1.0


class Looked(NamedTuple):
    """What a look has stored, and whether there is more to be had at once."""

    stored: list[Entry | Gap]
    has_more: bool


class Listener:
    """Stores what is said to a participant in its conversations, also those opened meanwhile."""

    def __init__(self, inbox: Inbox, conversation: str) -> None:
        self._inbox = inbox
        self._conversation = conversation
        # How far each conversation went, in which database, when all of it was in the inbox.
        self._seen: set[tuple[str, str, int]] | None = None

    def look(self) -> Program[Looked]:
        """Look once, and store what is there: in the inbox first, then confirmed to the daemon.

        Until it is confirmed it stays unread, and is recognised when it comes again.
        """
        there = yield from self._extents()
        if there == self._seen:
            return Looked([], has_more=False)
        arrived = yield from do(arrivals())
        stored = self._inbox.store(arrived)
        # A conversation without a message has nothing to confirm.
        rows = [row for row, _ in arrived if row.through_seq]
        if rows:
            call = confirm({row.room: row.through_seq for row in rows})
            generation = rows[0].generation
            try:
                yield from do(call._replace(query={"generation": generation}))
            except (CursorAheadError, GenerationChangedError):
                # The daemon came back with an older database, in which other things are unread.
                return Looked(stored, has_more=True)
        has_more = any(row.has_more for row in rows)
        if not has_more:
            self._seen = there
        return Looked(stored, has_more)

    def _extents(self) -> Program[set[tuple[str, str, int]]]:
        rooms = yield from conversations()
        # An operator's list has the conversations of others.
        own = [room for room in rooms if self._takes_part(room)]
        return {(room.id, room.generation, room.latest_seq) for room in own}

    def _takes_part(self, room: RoomInfo) -> bool:
        return any(member.conversation_id == self._conversation for member in room.members)
