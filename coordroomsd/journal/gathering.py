"""Gathering what a batch of commands needs and memory does not hold, on the connection that writes.

Nothing can change meanwhile: only the journal writes, and it is the journal that gathers.
"""

from __future__ import annotations

import asyncpg

from coordroomsd.domain.commands import Command, Counted, HeldReaction, Needs
from coordroomsd.domain.identities import Enrollment
from coordroomsd.domain.participants import Actor
from coordroomsd.journal.draft import NEWCOMER, Facts
from coordroomsd.journal.submissions import KeyedCall
from coordroomsd.live.participants import Participants
from coordroomsd.live.rooms import LiveRoom, Rooms
from coordroomsd.store import history, reads
from coordroomsd.store.rows import Key


class Gathering:
    def __init__(self, rooms: Rooms, participants: Participants) -> None:
        self._rooms = rooms
        self._participants = participants

    async def gather(
        self, connection: asyncpg.Connection, commands: list[Command], keyed: list[KeyedCall]
    ) -> Facts:
        facts = Facts()
        needs = [command.needs() for command in commands]
        for need in needs:
            if not self._has_at_hand(facts, need):
                await self._people(facts, need)
                await self._places(facts, need)
        await self._names(connection, facts, needs)
        await self._log(connection, facts, needs)
        if keys := self._keys(facts, keyed):
            facts.answers = await reads.kept_answers(connection, keys)
        return facts

    def _has_at_hand(self, facts: Facts, need: Needs) -> bool:
        """Take an actor and a room, which is all that most need, from memory if they are there."""
        if need.actor is None or need.room_id is None or need.others or need.slug or need.pair:
            return False
        participant = self._participants.peek(need.actor)
        if participant is None:
            return False
        for room_id in (need.room_id, participant.active_room_id):
            if room_id is None or room_id in facts.rooms:
                continue
            room = self._rooms.peek(room_id)
            if room is None:
                return False
            facts.rooms[room_id] = room
        facts.participants[participant.project, participant.conversation_id] = participant
        return True

    def _keys(self, facts: Facts, keyed: list[KeyedCall]) -> list[Key]:
        """Who is not known yet has used no key yet."""
        return [
            call.of(participant)
            for call in keyed
            if (
                participant := facts.participants.get(
                    (call.actor.project, call.actor.conversation_id)
                )
            )
        ]

    async def _people(self, facts: Facts, need: Needs) -> None:
        actors = [actor for actor in (need.actor, *need.others) if actor]
        for actor in actors:
            participant = await self._participants.get(actor)
            if participant is None:
                continue
            facts.participants[actor.project, actor.conversation_id] = participant
            if participant.active_room_id is not None:
                await self._room(facts, participant.active_room_id)

    async def _places(self, facts: Facts, need: Needs) -> None:
        if need.room_id is not None:
            await self._room(facts, need.room_id)
        if need.slug:
            room = await self._rooms.of_slug(*need.slug)
            if room:
                facts.slugs[need.slug] = room.state.id
                facts.rooms[room.state.id] = room
        if need.pair:
            await self._conversation(facts, need.pair)

    async def _conversation(self, facts: Facts, actors: tuple[Actor, Actor]) -> None:
        ids = sorted(
            participant.id
            for actor in actors
            if (participant := facts.participants.get((actor.project, actor.conversation_id)))
        )
        if len(ids) != 2:
            return
        pair = (ids[0], ids[1])
        room_id = await self._rooms.of_pair(pair)
        if room_id is not None:
            facts.pairs[pair] = room_id
            await self._room(facts, room_id)

    async def _names(
        self, connection: asyncpg.Connection, facts: Facts, needs: list[Needs]
    ) -> None:
        facts.has_identities = any(need.name or need.code_hash for need in needs)
        names = {need.name for need in needs if need.name}
        if codes := [need.code_hash for need in needs if need.code_hash]:
            facts.enrollments = await reads.enrollments(connection, codes)
            for offer in facts.enrollments.values():
                names.add((offer.project, offer.name))
                await self._person(facts, offer)
        for project, name in names:
            if await reads.is_used(connection, project, name):
                facts.used_names.add((project, name))

    async def _person(self, facts: Facts, offer: Enrollment) -> None:
        actor = Actor(offer.project, offer.name, offer.kind, offer.role)
        if participant := await self._participants.get(actor):
            facts.participants[offer.project, offer.name] = participant

    async def _room(self, facts: Facts, room_id: int) -> LiveRoom:
        room = facts.rooms.get(room_id) or await self._rooms.get(room_id)
        assert room is not None, f"room {room_id} was found before and is never removed"
        facts.rooms[room_id] = room
        return room

    async def _log(self, connection: asyncpg.Connection, facts: Facts, needs: list[Needs]) -> None:
        messages: dict[int, set[int]] = {}
        reactions: dict[int, set[int]] = {}
        for need in needs:
            if need.room_id is None:
                continue
            room = facts.rooms[need.room_id]
            for seq in need.messages:
                if 0 < seq <= room.state.head and room.tail.get(seq) is None:
                    messages.setdefault(need.room_id, set()).add(seq)
            if need.reactions_of is not None:
                reactions.setdefault(need.room_id, set()).add(need.reactions_of)
            if need.unseen_after is not None and need.actor:
                await self._unseen(connection, facts, room, need)
        for room_id, seqs in messages.items():
            found = await history.messages_at(connection, facts.rooms[room_id].state, seqs)
            facts.messages |= {(room_id, seq): event for seq, event in found.items()}
        for room_id, seqs in reactions.items():
            held: dict[tuple[int, int], set[HeldReaction]] = {}
            for row in await history.reactions(connection, facts.rooms[room_id].state, seqs):
                one = HeldReaction(row.membership_id, row.reaction)
                held.setdefault((room_id, row.message_id), set()).add(one)
            facts.reactions |= {key: frozenset(value) for key, value in held.items()}

    async def _unseen(
        self, connection: asyncpg.Connection, facts: Facts, room: LiveRoom, need: Needs
    ) -> None:
        """The count up to where the tail begins; `need.counted` has most of it already."""
        actor, after_seq = need.actor, need.unseen_after
        if after_seq is None or after_seq >= room.tail.start:
            return
        participant = actor and facts.participants.get((actor.project, actor.conversation_id))
        member = room.state.members.get(participant.id) if participant else None
        # Who is no member yet may become one in this very batch.
        membership_id = member.id if member else NEWCOMER
        messages, counted_to = need.counted or (0, after_seq)
        if counted_to < room.tail.start:
            head = room.state.head
            messages += await history.count_messages_by_others(
                connection, room.state.id, counted_to, head, membership_id
            )
            counted_to = head
        facts.unseen[room.state.id, after_seq, membership_id] = Counted(messages, counted_to)
