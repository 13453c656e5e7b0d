"""Bringing an inbox up to date with what was acknowledged by other means than `reply`."""

from __future__ import annotations

from ..calls import Program, do
from .documents import page_of_kind
from .stores import Inbox, Original


def refresh(inbox: Inbox) -> Program[None]:
    """Ask the daemon which of the inbox's open messages are acknowledged by now."""
    for conversation, kind, first, last in inbox.open_spans():
        after_seq, has_more = first - 1, True
        while has_more and after_seq < last:
            page, documents = yield from do(page_of_kind(conversation, after_seq, kind))
            inbox.mark_acknowledged(
                [
                    Original.of(conversation, document)
                    for message, document in zip(page.messages, documents, strict=True)
                    # The author cannot, so in a conversation of two it was this participant.
                    if "ack" in message.reactions
                ]
            )
            after_seq, has_more = page.next_after_seq, page.has_more
