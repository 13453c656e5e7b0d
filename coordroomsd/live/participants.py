"""Participants in memory, as committed; only the journal's publishing replaces one."""

from __future__ import annotations

from collections import OrderedDict

from coordroomsd.domain.participants import Actor, Participant
from coordroomsd.live.loading import Loading
from coordroomsd.store import reads
from coordroomsd.store.read_pools import ReadPool

KEPT = 50_000

Name = tuple[str, str]


class Participants:
    def __init__(self, reader: ReadPool) -> None:
        self._reader = reader
        self._known: OrderedDict[Name, Participant] = OrderedDict()
        self._loading = Loading(self._load)

    def peek(self, actor: Actor) -> Participant | None:
        """The participant if it is loaded."""
        return self._known.get((actor.project, actor.conversation_id))

    async def get(self, actor: Actor) -> Participant | None:
        """None when the store does not know it: it has never done anything that lasts."""
        return self.peek(actor) or await self._loading.get(actor)

    def put(self, participant: Participant) -> None:
        name = (participant.project, participant.conversation_id)
        self._known[name] = participant
        self._known.move_to_end(name)
        if len(self._known) > KEPT:
            self._known.popitem(last=False)

    async def _load(self, actor: Actor) -> Participant | None:
        found = await reads.participant(self._reader, actor)
        # What was published meanwhile is newer.
        if published := self.peek(actor):
            return published
        if found:
            self.put(found)
        return found
