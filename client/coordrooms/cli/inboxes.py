"""What the commands about an inbox share: whose it is, and how its lines look."""

from __future__ import annotations

from ..events import RetentionGap
from ..inbox.entries import Entry, Gap
from ..inbox.stores import Inbox, inbox_path
from ..models import Json
from ..operations.rooms import me
from ..sync_clients import Client
from .events import INDENT, KIND_COLUMNS, NAME_COLUMNS, event_lines
from .texts import Style, clock_time, cut, padded, safe


def acting(client: Client) -> str:
    """Who acts; the daemon is asked when only a token says so."""
    return client.conversation or client.run(me()).participant.conversation_id


def open_inbox(client: Client, conversation: str) -> Inbox:
    return Inbox(inbox_path(client.session.address, conversation))


def entry_lines(item: Entry | Gap, style: Style) -> str:
    """A message of an inbox, on as many lines as its text has, headed by what `reply` takes."""
    if isinstance(item, Gap):
        gap = RetentionGap(from_seq=item.from_seq, to_seq=item.to_seq)
        return f"{safe(item.conversation)}  {event_lines(gap, style).strip()}"
    message = item.message
    name = safe(message.author.name) if message.author else "–"
    first, *rest = safe(message.body, lines=True).rstrip("\n").split("\n")
    head = [
        style.dim(f"{safe(item.conversation)}/{message.seq}  {clock_time(message.at)}"),
        style.name(name, padded(cut(name, NAME_COLUMNS), NAME_COLUMNS)),
        style.bold(padded(safe(message.kind), KIND_COLUMNS)),
        first,
    ]
    state = _state(item)
    return "\n".join(
        ["  ".join(head), *(INDENT + line for line in rest)]
        + ([INDENT + style.dim(f"({state})")] if state else [])
    )


def item_document(item: Entry | Gap) -> Json:
    """The same as JSON: the daemon's message and what the inbox knows of it."""
    if isinstance(item, Gap):
        gap = {"from_seq": item.from_seq, "to_seq": item.to_seq}
        return {"conversation": item.conversation, "retention_gap": gap}
    reply = item.reply
    return {
        "conversation": item.conversation,
        "message": item.document,
        "acknowledged": item.acknowledged,
        "replaced": item.replaced,
        "reply": None
        if reply is None
        else {"id": reply.sent_seq, "kind": reply.kind, "body": reply.body},
    }


def _state(entry: Entry) -> str:
    parts = []
    if entry.reply is not None:
        sent = entry.reply.sent_seq
        parts.append("a reply is saved, not sent" if sent is None else f"answered with {sent}")
    if entry.acknowledged:
        parts.append("acknowledged")
    if entry.replaced:
        parts.append("no longer the daemon's, which was restored from an older copy")
    return ", ".join(parts)
