"""Reading a room's log live as server-sent events: one's own too, and readers need not be members.

Driven like a follower (see `follows`), but the connection stays open between two turns.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Generic, TypeVar

from .calls import Connection, Program, Receive, do
from .event_streams import Frame, FrameReader
from .events import HistoryRestored, RetentionGap
from .exchanges import Answer, LostAnswerError
from .models import Json
from .operations.rooms import get_document, overview, room_path
from .operations.waits import closing_pause
from .outages import Outage
from .refusals import GenerationChangedError, RefusedError
from .sessions import Session
from .wire import ResponseReader, TruncatedError, WireError

T = TypeVar("T")

# The daemon says something every 15 s; after three times that the connection is dead.
SILENCE_S = 45.0

STREAM_TYPE = "text/event-stream"
HTTP_OK = 200


class EventStream(Generic[T]):
    """The events of a room as they happen, each once, through restarts of the daemon.

    `parse` makes of an event's JSON what `turn` gives.
    """

    def __init__(
        self,
        session: Session,
        room: str,
        after_seq: int | None,
        patience_s: float,
        parse: Callable[[Json], T],
    ) -> None:
        self._session = session
        self._room = room
        self._after_seq = after_seq
        self._patience_s = patience_s
        self._parse = parse
        self._generation: str | None = None
        self._connection: Connection | None = None
        self._reader = ResponseReader()
        self._frames = FrameReader()
        self._ended = False

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def turn(self) -> Program[list[T | RetentionGap | HistoryRestored]]:
        """Read until there is something, and return it.

        When the daemon's numbers are no longer those of before, it says so, and goes on from the
        log's beginning.
        """
        session = self._session
        outage = Outage(self._patience_s, session.clock)
        while True:
            if self._ended:
                self._ended = False
                yield closing_pause()
            try:
                connection = self._connection or (yield from self._open())
                frames = yield from self._receive(connection)
            except GenerationChangedError as changed:
                self.close()
                self._after_seq = 0
                self._generation = changed.generation
                return [
                    HistoryRestored(generation=changed.generation, latest_seq=changed.latest_seq)
                ]
            except (OSError, WireError, RefusedError) as failure:
                self.close()
                yield session.pause(outage, failure, session.clock())
                continue
            outage.over()
            if items := [item for frame in frames for item in self._items(frame)]:
                return [*items]

    def _open(self) -> Program[Connection]:
        session, exchanges = self._session, self._session.exchanges
        if self._generation is None:
            # Known before the stream begins, so that nothing is lost when it breaks at once.
            room = (yield from do(overview(self._room))).room
            self._generation = room.generation
            if self._after_seq is None:
                self._after_seq = room.latest_seq
        query = {"after_seq": self._after_seq, "generation": self._generation}
        call = get_document(room_path(self._room, "/events"), query)
        deadline = session.clock() + session.timeout_s
        connection = yield from exchanges.connect(session.timeout_s)
        self._connection = connection
        self._reader = ResponseReader()
        self._frames = FrameReader()
        request = session.request(call, accept=STREAM_TYPE)
        yield from exchanges.send(connection, request, deadline)
        yield from self._read_head(connection, deadline)
        return connection

    def _read_head(self, connection: Connection, deadline: float) -> Program[None]:
        session, reader = self._session, self._reader
        while not (reader.done or reader.status == HTTP_OK):
            try:
                reader.feed((yield Receive(connection, session.exchanges.left_s(deadline))))
            except TruncatedError as error:
                raise LostAnswerError(str(error)) from error
        if reader.status != HTTP_OK:
            raise session.refusal(Answer(reader.status, reader.headers, reader.take()))

    def _receive(self, connection: Connection) -> Program[list[Frame]]:
        # What came together with the head is there without receiving.
        body = self._reader.take()
        if not body and not self._reader.done:
            try:
                self._reader.feed((yield Receive(connection, SILENCE_S)))
            except TruncatedError as error:
                raise LostAnswerError(str(error)) from error
            body = self._reader.take()
        if self._reader.done:
            self.close()
            self._ended = True
        return self._frames.feed(body)

    def _items(self, frame: Frame) -> list[T | RetentionGap]:
        match frame.event:
            case "message":
                data = json.loads(frame.data)
                self._after_seq = data["seq"]
                return [self._parse(data)]
            case "gap":
                gap = RetentionGap.from_json(json.loads(frame.data))
                self._after_seq = gap.to_seq
                return [gap]
            case "closing":
                # Whether for all or for this caller alone: opening it anew will tell.
                self.close()
                self._ended = True
        return []
