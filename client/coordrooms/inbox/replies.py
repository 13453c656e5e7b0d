"""Answering a message once, whatever happens in between."""

from __future__ import annotations

from typing import NamedTuple

from ..answers import Me
from ..calls import Program, do
from ..events import Message
from ..models import Json
from ..operations.conversations import acknowledge, send
from ..operations.messages import receipts
from ..refusals import RefusedError, refusal
from .documents import found, page_of_kind
from .stores import Inbox, Original

# Refusals of this moment. Every other one says that the reply is not stored and never will be.
_PASSING = frozenset({401, 429})
_SERVER_ERRORS = 500


class Replied(NamedTuple):
    """The reply's number in the conversation, and whether it was there before this run."""

    seq: int
    was_there: bool


class Answering:
    """One reply: saved in the inbox, sent under a key of its own, and the message acknowledged.

    `whoami` is whose the inbox is. Without a `kind` the reply is a `result` for a question and a
    `note` for all else.
    """

    def __init__(
        self,
        inbox: Inbox,
        whoami: Me,
        conversation: str,
        seq: int,
        body: str,
        kind: str | None = None,
    ) -> None:
        self._inbox = inbox
        self._whoami = whoami
        self._author = whoami.participant.conversation_id
        self._room = conversation
        self._seq = seq
        self._body = body
        self._kind = kind

    def run(self) -> Program[Replied]:
        """Do what is left to do. Raises RefusedError, also for what the inbox knows better."""
        inbox, generation = self._inbox, self._generation()
        original, document = yield from self._original()
        saved = inbox.save_reply(original, document, generation, self._kind, self._body)
        if saved is None:
            raise self._refusal(
                "idempotency_key_reused",
                422,
                "was answered already, with another text or kind",
                "Run it with the first text to have that one sent, or say something new in a "
                "message of its own.",
            )
        sent_seq, was_there = saved.sent_seq, True
        # What was in a database may be missing in an older copy of it.
        if sent_seq is None or saved.sent_in != generation:
            sent_seq = yield from self._find(saved.kind)
            if sent_seq is None:
                sent_seq, was_there = (yield from self._send(original, saved.kind)), False
            inbox.mark_sent(original, sent_seq, generation)
        elif inbox.is_acknowledged(original):
            return Replied(sent_seq, was_there)
        yield from do(acknowledge(self._room, self._seq))
        inbox.mark_acknowledged([original])
        return Replied(sent_seq, was_there)

    def _generation(self) -> str:
        for conversation in self._whoami.conversations:
            if conversation.id == self._room:
                return conversation.generation
        raise self._refusal(
            "room_not_found",
            404,
            f"is in no conversation of {self._author}",
            "`coordrooms inbox` shows the messages that can be answered.",
        )

    def _original(self) -> Program[tuple[Original, Json]]:
        message, document = yield from do(found(self._room, self._seq))
        if message.author is not None and message.author.conversation_id == self._author:
            raise self._refusal(
                "own_message", 409, f"is {self._author}'s own", "Answer what others said."
            )
        original = Original.of(self._room, document)
        if self._inbox.has_another(original):
            raise self._refusal(
                "generation_changed",
                409,
                "is another one in the inbox: the daemon's database was restored from an older "
                "copy since",
                "Let `coordrooms listen` fetch what is there now, and look at the inbox again.",
            )
        return original, document

    def _find(self, kind: str) -> Program[int | None]:
        """The number of the same reply, if it is there: a key alone is forgotten after a week."""
        rows = yield from do(receipts(self._room, self._seq))
        replied = [
            row.reply_id
            for row in rows
            if row.participant.conversation_id == self._author and row.reply_id is not None
        ]
        if not replied:
            return None
        after_seq, has_more = replied[0] - 1, True
        while has_more:
            page, _ = yield from do(page_of_kind(self._room, after_seq, kind))
            for one in page.messages:
                if self._is_this_reply(one):
                    return one.seq
            after_seq, has_more = page.next_after_seq, page.has_more
        return None

    def _is_this_reply(self, one: Message) -> bool:
        by = one.author.conversation_id if one.author else None
        return (by, one.reply_to, one.body) == (self._author, self._seq, self._body)

    def _send(self, original: Original, kind: str) -> Program[int]:
        # The same in every run, on every machine; who sends it is part of the key's scope.
        key = f"coordrooms-reply/{self._room}/{self._seq}"
        call = send(self._room, self._body, kind, reply_to=self._seq, idempotency_key=key)
        try:
            return (yield from do(call)).message.seq
        except RefusedError as error:
            if error.status not in _PASSING and error.status < _SERVER_ERRORS:
                # It may be said in another way.
                self._inbox.forget_reply(original)
            raise

    def _refusal(self, code: str, status: int, problem: str, recovery: str) -> RefusedError:
        document = {
            "type": f"urn:coordrooms:{code}",
            "title": code.replace("_", " ").capitalize(),
            "status": status,
            "code": code,
            "detail": f"Message {self._room}/{self._seq} {problem}.",
            "recovery": recovery,
        }
        return refusal(document, status)
