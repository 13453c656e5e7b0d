"""What is in an inbox."""

from __future__ import annotations

from ..events import Message
from ..models import Json
from ..records import Record


class Reply(Record):
    """The one reply to a message, as it was saved before it was sent.

    `sent_seq` is its number in the conversation, None while it is not known to be there; `sent_in`
    is the generation of the daemon's database that has it.
    """

    kind: str
    body: str
    sent_seq: int | None
    sent_in: str | None


class Entry(Record):
    """A message by somebody else, and how far it was handled.

    `document` is the message as the daemon gave it. `generation` is that of the database it was
    read from; `replaced` that a restored database has given its number to another message.
    `is_open` is whether something is left to be done about it.
    """

    conversation: str
    message: Message
    document: Json
    generation: str
    acknowledged: bool
    replaced: bool
    is_open: bool
    reply: Reply | None


class Gap(Record):
    """Events of a conversation that the retention policy removed before they were read."""

    conversation: str
    from_seq: int
    to_seq: int


class Contents(Record):
    """What is in an inbox, in the order in which it came; `is_empty` when nothing ever did."""

    entries: tuple[Entry, ...]
    gaps: tuple[Gap, ...]
    is_empty: bool
