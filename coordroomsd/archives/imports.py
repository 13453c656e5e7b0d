"""Making a room of a file that `write_room` wrote, perhaps elsewhere. The file is only data."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import asyncpg
import orjson

from coordroomsd.archives.backups import Extent
from coordroomsd.archives.errors import NotEmptyError
from coordroomsd.archives.room_lines import ClaimLine, MemberLine, ReactionLine
from coordroomsd.archives.room_logs import LogError, RoomLog
from coordroomsd.archives.room_readers import RoomReader
from coordroomsd.domain import ids
from coordroomsd.domain.events import Event, Message, payload_wire
from coordroomsd.domain.log import Log
from coordroomsd.domain.members import depart
from coordroomsd.domain.participants import Author, display_name
from coordroomsd.domain.rooms import Member, Room
from coordroomsd.domain.text import slug

_CHUNK: Final = 200
# A lease is for a day at most; the other machine's clock may have gone before this one's.
_LATEST_END: Final = timedelta(days=2)

_EVENT_COLUMNS: Final = (
    "room_id", "seq", "type", "reason", "at", "membership_id", "by_daemon", "kind", "body",
    "reply_to", "detail",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Imported:
    slug: str
    extent: Extent
    # Who was active in another room here, and so has left this one.
    left: tuple[str, ...]


class RoomImport:
    """One import, in a transaction of the caller's, who owns the database."""

    def __init__(
        self,
        connection: asyncpg.Connection,
        reader: RoomReader,
        project: str | None,
        name: str | None,
        now: datetime,
        check: Callable[[], None],
    ) -> None:
        room = reader.header.room
        self._connection = connection
        self._reader = reader
        self._project = project or room.project
        self._name = name or room.name
        self._now = now
        self._check = check
        self._new_id = ids.NewIds(secrets.randbits)
        self._attendances: dict[int, list[tuple[int, int | None]]] = {}
        self._lines: dict[int, MemberLine] = {}
        # Participants that are active in another room of this database.
        self._elsewhere: set[int] = set()

    async def run(self) -> Imported:
        """:raises ArchiveError: the file is not right; names the line.
        :raises NotEmptyError: there is a room of that slug.
        """
        header = self._reader.header
        await self._refuse_taken_slug()
        room_id = self._new_id(self._now)
        made = Room(
            room_id,
            self._project,
            "room",
            self._name,
            slug(self._name),
            created_at=header.room.created_at,
            max_age_s=header.retention.max_age_s,
            max_events=header.retention.max_events,
        )
        lines = self._reader.lines()
        log, first_event = await self._take_beginning(made, lines)
        rows: list[tuple[Any, ...]] = []
        line = first_event
        while line is not None:
            with self._named():
                rows.append(_event_row(room_id, log.take_event(line)))
            if len(rows) == _CHUNK:
                await self._write_events(rows)
            line = next(lines, None)
        await self._write_events(rows)
        with self._named():
            room = log.end(self._attendances)
        room, left = await self._let_leave(room)
        await self._write_state(room, log)
        return Imported(slug(self._name), Extent(1, room.head - room.first_seq + 1), left)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """With the number of the line that is at fault."""
        try:
            yield
        except LogError as error:
            raise self._reader.fault(str(error)) from None

    async def _take_beginning(self, made: Room, lines: Iterator[Any]) -> tuple[RoomLog, Any]:
        """What is before the events, and the first of those."""
        header = self._reader.header.room
        if header.first_seq > header.latest_seq:
            raise self._reader.fault("has a first_seq beyond latest_seq")
        members: dict[str, Member] = {}
        there: set[int] = set()
        log = RoomLog(made, header.latest_seq, header.first_seq, members)
        for line in lines:
            match line:
                case MemberLine():
                    if line.membership_id in members:
                        raise self._reader.fault(f"is a second member {line.membership_id}")
                    member = await self._member(line)
                    if member.participant_id in there:
                        raise self._reader.fault(f"is a second member {line.conversation_id}")
                    there.add(member.participant_id)
                    members[line.membership_id] = member
                    self._lines[member.id] = line
                    self._attendances[member.id] = [
                        (one.joined_seq, one.left_seq) for one in line.attendances
                    ]
                    with self._named():
                        log.take_member(line)
                    if line.status is not None:
                        self._check_end(line.status.expires_at)
                case ClaimLine():
                    with self._named():
                        log.take_claim(line)
                    self._check_end(line.expires_at)
                case ReactionLine():
                    with self._named():
                        log.take_reaction(line)
                case _:
                    return log, line
        raise self._reader.fault("is the end of a file without events")

    def _check_end(self, moment: datetime) -> None:
        if moment > self._now + _LATEST_END:
            raise self._reader.fault(f"ends at {moment}, which is too far ahead")

    async def _refuse_taken_slug(self) -> None:
        taken = await self._connection.fetchval(
            "SELECT name FROM rooms WHERE project = $1 AND slug = $2",
            self._project,
            slug(self._name),
        )
        if taken is not None:
            raise NotEmptyError(
                f"there is a room named {taken!r} already in the project {self._project!r}. Import "
                "this one under another --name"
            )
        file = self._reader.header.room
        if file.slug != slug(file.name):
            raise self._reader.fault(f"has the slug {file.slug!r}, which is not that of its name")

    async def _member(self, line: MemberLine) -> Member:
        """With the participant of this database, who is made if there is none yet."""
        name = display_name(line.conversation_id)
        if name != line.name:
            raise self._reader.fault(f"is named {line.name!r}, where the id makes it {name!r}")
        connection = self._connection
        participant = await connection.fetchrow(
            """SELECT id, kind, active_room_id FROM participants
               WHERE project = $1 AND conversation_id = $2""",
            self._project,
            line.conversation_id,
        )
        enrolled = await connection.fetchval(
            "SELECT kind FROM enrolled WHERE project = $1 AND name = $2", self._project, name
        )
        kinds = {kind for kind in (enrolled, participant and participant["kind"]) if kind}
        if kinds - {line.kind}:
            raise self._reader.fault(
                f"has {line.conversation_id} as kind {line.kind}, who is another kind here"
            )
        if line.kind == "human" and enrolled is None:
            # Without a token, which only an operator of this daemon gives. Were the name free, any
            # agent on the socket could speak under it, and as a person.
            await connection.execute(
                """INSERT INTO enrolled (project, name, kind, role)
                   VALUES ($1, $2, 'human', 'human')""",
                self._project,
                name,
            )
        if participant is None:
            participant_id = self._new_id(self._now)
            await connection.execute(
                """INSERT INTO participants
                   (id, project, conversation_id, name, kind, role, created_at)
                   VALUES ($1, $2, $3, $4, $5, $5, $6)""",
                participant_id,
                self._project,
                line.conversation_id,
                name,
                line.kind,
                self._now,
            )
        else:
            participant_id = participant["id"]
            if participant["active_room_id"] is not None:
                self._elsewhere.add(participant_id)
        author = Author(self._new_id(self._now), line.conversation_id, name, line.kind)
        return Member(author, participant_id, line.state == "active", line.created_at)

    async def _let_leave(self, room: Room) -> tuple[Room, tuple[str, ...]]:
        """Nobody is active in two rooms: who is active in another one here leaves this one."""
        leaving = [
            member
            for member in room.memberships.values()
            if member.active and member.participant_id in self._elsewhere
        ]
        if not leaving:
            return room, ()
        log = Log(room, self._now)
        for member in leaving:
            depart(log, log.room.memberships[member.id])
            there = self._attendances[member.id]
            there[-1] = (there[-1][0], log.room.head)
        await self._write_events([_event_row(room.id, event) for event in log.events])
        return log.room, tuple(member.author.conversation_id for member in leaving)

    async def _write_events(self, rows: list[tuple[Any, ...]]) -> None:
        self._check()
        await self._copy("events", _EVENT_COLUMNS, rows)
        rows.clear()

    async def _write_state(self, room: Room, log: RoomLog) -> None:
        connection = self._connection
        await connection.execute(
            """INSERT INTO rooms (id, project, kind, name, slug, created_at, latest_seq, first_seq,
                                  max_age_s, max_events)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)""",
            room.id, room.project, room.kind, room.name, room.slug, room.created_at, room.head,
            room.first_seq, room.max_age_s, room.max_events,
        )  # fmt: skip
        members = room.memberships.values()
        await self._copy(
            "memberships",
            ("room_id", "id", "participant_id", "active", "cursor", "last_seen_seq",
             "last_seen_at", "created_at"),
            [
                (room.id, member.id, member.participant_id, member.active, line.cursor,
                 line.last_seen_seq, line.last_seen_at, member.created_at)
                for member in members
                for line in (self._lines[member.id],)
            ],
        )  # fmt: skip
        await connection.execute(
            "UPDATE participants SET active_room_id = $1, last_room_id = $1 WHERE id = ANY($2)",
            room.id,
            [member.participant_id for member in members if member.active],
        )
        await self._copy(
            "attendances",
            ("room_id", "membership_id", "joined_seq", "left_seq"),
            [
                (room.id, member, *there)
                for member, theirs in self._attendances.items()
                for there in theirs
            ],
        )
        await self._copy(
            "statuses",
            ("room_id", "membership_id", "status", "since", "expires_at"),
            [
                (room.id, member, held.status, held.since, held.expires_at)
                for member, held in room.statuses.items()
            ],
        )
        await self._copy(
            "claims",
            ("room_id", "key", "membership_id", "since", "expires_at", "fence", "proposed_by_seq"),
            [
                (room.id, held.key, held.holder.membership_id, held.since, held.expires_at,
                 held.fence, held.proposed_by_seq)
                for held in room.claims.values()
            ],
        )  # fmt: skip
        await self._copy(
            "reactions",
            ("room_id", "message_id", "membership_id", "reaction", "at"),
            [(room.id, *place, line.at) for place, line in log.reactions.items()],
        )

    async def _copy(
        self, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
    ) -> None:
        await self._connection.copy_records_to_table(table, columns=columns, records=rows)


def _event_row(room_id: int, event: Event) -> tuple[Any, ...]:
    """In the order of `_EVENT_COLUMNS`."""
    who = event.who.membership_id
    head = (room_id, event.seq, event.type, event.reason, event.at, who, event.by_daemon)
    if isinstance(event.payload, Message):
        message = event.payload
        return (*head, message.kind, message.body, message.reply_to, None)
    detail = orjson.dumps(payload_wire(event.payload)).decode() if event.payload else None
    return (*head, None, None, None, detail)
