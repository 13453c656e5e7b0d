"""One room as a file of JSON lines, in UTF-8: what each line may hold.

    {"format": "coordroomsd room", "version": 1, "room": {…}, "retention": {…}, …}
    {"member": {…}}      everybody who was ever in, with cursor, status, and from when to when
    {"claim": {…}}       what is held
    {"reaction": {…}}    and by whom
    {"seq": 1, …}        the events, as `GET /rooms/{room}/events` shows them
    {"end": {"members": 2, "claims": 0, "reactions": 1, "events": 57}}

What comes before the events follows from them, too, unless the retention policy has removed some.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter

from coordroomsd.api.callers import conversation_id
from coordroomsd.api.fields import BodyText, EventNumber, Fields, Line, RoomName, SeqNumber, Text
from coordroomsd.api.schemas import RetentionPolicy, RoomMessageKind
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.text import BODY_MAX_BYTES, body_size

FORMAT: Final = "coordroomsd room"
VERSION: Final = 1

_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
# All that a header carries as it is, but for the sign of an escape.
_VISIBLE: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) != "%")


def _moment(value: object) -> object:
    if not (isinstance(value, str) and _INSTANT.fullmatch(value)):
        raise ValueError("should be a time like 2026-01-02T03:04:05.678Z")
    return datetime.fromisoformat(value)


def _body(value: str) -> str:
    if body_size(value) > BODY_MAX_BYTES:
        raise ValueError(f"has more than {BODY_MAX_BYTES} bytes")
    return value


def _conversation(value: str) -> str:
    try:
        conversation_id(quote(value, safe=_VISIBLE))
    except Refusal as refusal:
        raise ValueError(refusal.extra["errors"][0]["problem"]) from None
    return value


Moment = Annotated[datetime, BeforeValidator(_moment)]
Conversation = Annotated[Text, AfterValidator(_conversation)]
Kind = Literal["agent", "human"]
ReactionName = Literal["ack", "agree", "decline", "like", "love", "fire", "ok"]


class RoomLine(Fields):
    id: Text
    name: RoomName
    slug: Text
    kind: Literal["room"]
    project: Line
    created_at: Moment
    latest_seq: EventNumber
    first_seq: EventNumber
    generation: Text


class Header(Fields):
    format: Literal["coordroomsd room"]
    version: Literal[1]
    program: Text
    at: Moment
    room: RoomLine
    retention: RetentionPolicy


class AuthorLine(Fields):
    membership_id: Text
    conversation_id: Conversation
    name: Text
    kind: Kind


class StatusLine(Fields):
    status: Line
    since: Moment
    expires_at: Moment


class Attendance(Fields):
    joined_seq: EventNumber
    left_seq: EventNumber | None


class MemberLine(AuthorLine):
    state: Literal["active", "inactive"]
    cursor: SeqNumber
    last_seen_seq: SeqNumber
    last_seen_at: Moment
    created_at: Moment
    status: StatusLine | None
    attendances: Annotated[list[Attendance], Field(min_length=1)]


class ClaimLine(Fields):
    key: Line
    holder: AuthorLine
    since: Moment
    expires_at: Moment
    fence: EventNumber
    proposed_by_seq: EventNumber | None


class ReactionLine(Fields):
    message_id: EventNumber
    reaction: ReactionName
    author: AuthorLine
    at: Moment


class EventLine(Fields):
    """`participant` is whom it concerns where the daemon acted by itself, and `author` is None."""

    seq: EventNumber
    at: Moment
    author: AuthorLine | None
    participant: AuthorLine | None = None


class MessageEvent(EventLine):
    type: Literal["message"]
    reason: None
    kind: RoomMessageKind
    body: Annotated[BodyText, AfterValidator(_body)]
    reply_to: EventNumber | None


class MemberEvent(EventLine):
    type: Literal["member"]
    reason: Literal["joined", "left"]


class StatusEvent(EventLine):
    type: Literal["status"]
    reason: Literal["set", "cleared", "expired", "left"]
    status: Line
    since: Moment
    expires_at: Moment


class ReactionEvent(EventLine):
    type: Literal["reaction"]
    reason: Literal["added", "removed"]
    message_id: EventNumber
    reaction: ReactionName


class ClaimEvent(EventLine):
    type: Literal["claim"]
    reason: Literal["claimed", "renewed", "released", "expired", "left"]
    key: Line
    fence: EventNumber
    expires_at: Moment
    proposed_by_seq: EventNumber | None


AnyEvent = MessageEvent | MemberEvent | StatusEvent | ReactionEvent | ClaimEvent


class Counts(Fields):
    members: SeqNumber
    claims: SeqNumber
    reactions: SeqNumber
    events: SeqNumber


_MODELS: Final[dict[str, TypeAdapter[Any]]] = {
    "member": TypeAdapter(MemberLine),
    "claim": TypeAdapter(ClaimLine),
    "reaction": TypeAdapter(ReactionLine),
    "end": TypeAdapter(Counts),
}
_EVENT: Final[TypeAdapter[Any]] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="type")])


def line_value(line: dict[str, Any]) -> Any:
    """A line behind the first one, as a value of one of the classes above.

    :raises pydantic.ValidationError: it is none.
    """
    if len(line) == 1:
        [(name, content)] = line.items()
        if name in _MODELS:
            return _MODELS[name].validate_python(content)
    return _EVENT.validate_python(line)
