"""The file of an inbox: SQLite, for its owner alone, on the disk before anything is confirmed."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..addresses import Address
from ..errors import CoordroomsError
from ..events import message
from ..models import Json
from ..private_files import (
    FILE_MODE,
    file_name,
    make_private_directory,
    refuse_open_to_others,
    state_directory,
)
from .documents import Arrival
from .entries import Contents, Entry, Gap, Reply
from .schemas import ENTRIES, SCHEMA, VERSION

# Others write for a moment only.
_BUSY_S = 30.0


class InboxError(CoordroomsError):
    """The inbox cannot be read or written; what was not stored was not confirmed either."""


class Original(NamedTuple):
    """A message in a conversation: what replies and acknowledgements are about."""

    conversation: str
    seq: int
    at: str

    @classmethod
    def of(cls, conversation: str, document: Json) -> Original:
        return cls(conversation, document["seq"], document["at"])


class Inbox:
    """An inbox that is open. Several processes may have it open at once."""

    def __init__(self, path: str) -> None:
        """Open the file, which is made when it is not there.

        Raises ConfigurationError when others could read it, InboxError when it cannot be used.
        """
        self.path = path
        make_private_directory(os.path.dirname(path))
        try:
            # SQLite gives the journal beside it the same mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE))
        except OSError as error:
            raise self._error(error.strerror or str(error)) from error
        refuse_open_to_others(path)
        with self._faults():
            # Python's implicit transactions would begin later than they are needed.
            self._db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
        try:
            with self._faults():
                # A rollback journal and no write-ahead log, which needs shared memory: homes on
                # the network have none. With it only EXTRA survives a power cut right after the
                # commit (https://www.sqlite.org/pragma.html#pragma_synchronous).
                self._db.execute("PRAGMA synchronous = EXTRA")
            with self._transaction():
                self._migrate()
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    def store(self, arrivals: Sequence[Arrival]) -> list[Entry | Gap]:
        """Store what is unread; what of it is new here. It is on the disk when this returns."""
        stored: list[Entry | Gap] = []
        with self._transaction():
            for unread, documents in arrivals:
                gap = unread.retention_gap
                if gap and self._store_gap(unread.room, gap.from_seq, gap.to_seq):
                    stored.append(
                        Gap(
                            conversation=unread.room,
                            from_seq=gap.from_seq,
                            to_seq=gap.to_seq,
                        )
                    )
                for document in documents:
                    original = Original.of(unread.room, document)
                    if self._store_message(original, document, unread.generation):
                        stored.append(self._entry(original))
        return stored

    def contents(self, *, open_only: bool = False) -> Contents:
        """All messages and gaps; with `open_only` only the messages that are not dealt with."""
        where = "WHERE is_open" if open_only else ""
        with self._transaction():
            entries = self._db.execute(f"{ENTRIES} {where} ORDER BY position").fetchall()
            [count] = self._db.execute("SELECT count(*) FROM messages").fetchone()
            gaps = self._db.execute("SELECT conversation, from_seq, to_seq FROM gaps").fetchall()
        return Contents(
            entries=tuple(map(_entry, entries)),
            gaps=tuple(Gap(conversation=room, from_seq=a, to_seq=b) for room, a, b in gaps),
            is_empty=not count,
        )

    def open_spans(self) -> list[tuple[str, str, int, int]]:
        """Where unacknowledged messages lie: conversation, kind, first and last number."""
        with self._transaction():
            spans: list[tuple[str, str, int, int]] = self._db.execute(
                "SELECT conversation, kind, min(seq), max(seq) FROM messages"
                " WHERE NOT acknowledged GROUP BY conversation, kind"
            ).fetchall()
        return spans

    def has_another(self, original: Original) -> bool:
        """Whether another message is known under this number, and this one is not."""
        with self._transaction():
            known = self._db.execute(
                "SELECT at FROM messages WHERE conversation = ? AND seq = ?",
                (original.conversation, original.seq),
            ).fetchall()
        return bool(known) and (original.at,) not in known

    def save_reply(
        self, original: Original, document: Json, generation: str, kind: str | None, body: str
    ) -> Reply | None:
        """Save a reply before it is sent, and the message it replies to.

        Without a `kind` it is that of a reply saved earlier, else one that goes with the message.
        None when another reply was saved earlier: that one stays.
        """
        with self._transaction():
            self._store_message(original, document, generation)
            usual = "result" if document["kind"] == "question" else "note"
            self._db.execute(
                "INSERT INTO replies (conversation, seq, at, kind, body) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (*original, kind or usual, body),
            )
            saved = self._entry(original).reply
        if saved is None or saved.body != body or kind not in (None, saved.kind):
            return None
        return saved

    def forget_reply(self, original: Original) -> None:
        """Forget a reply that the daemon will never take, unless it was sent."""
        with self._transaction():
            self._db.execute(
                "DELETE FROM replies WHERE conversation = ? AND seq = ? AND at = ?"
                " AND sent_seq IS NULL",
                original,
            )

    def mark_sent(self, original: Original, sent_seq: int, generation: str) -> None:
        """Note that the reply is there, which does not say that its message is acknowledged."""
        with self._transaction():
            self._db.execute(
                "UPDATE replies SET sent_seq = ?, sent_in = ?"
                " WHERE conversation = ? AND seq = ? AND at = ?",
                (sent_seq, generation, *original),
            )
            # An earlier acknowledgement may have been one in a database that is no more.
            self._db.execute(
                "UPDATE messages SET acknowledged = 0"
                " WHERE conversation = ? AND seq = ? AND at = ?",
                original,
            )

    def mark_acknowledged(self, originals: Sequence[Original]) -> None:
        """Note that these are acknowledged, those of them that are here."""
        with self._transaction():
            self._db.executemany(
                "UPDATE messages SET acknowledged = 1"
                " WHERE conversation = ? AND seq = ? AND at = ?",
                originals,
            )

    def is_acknowledged(self, original: Original) -> bool:
        with self._transaction():
            return self._entry(original).acknowledged

    def _migrate(self) -> None:
        [version] = self._db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise self._error("a newer coordrooms made it", "Use that one.")
        if version == 0:
            for statement in SCHEMA:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {VERSION}")

    def _store_gap(self, conversation: str, from_seq: int, to_seq: int) -> bool:
        # A gap that was not confirmed may have grown meanwhile.
        changed = self._db.execute(
            "INSERT INTO gaps VALUES (?, ?, ?) ON CONFLICT (conversation, from_seq) DO UPDATE"
            " SET to_seq = excluded.to_seq WHERE excluded.to_seq > gaps.to_seq",
            (conversation, from_seq, to_seq),
        )
        return changed.rowcount > 0

    def _store_message(self, original: Original, document: Json, generation: str) -> bool:
        changed = self._db.execute(
            "INSERT INTO messages (conversation, seq, at, kind, document, generation)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (*original, document["kind"], json.dumps(document), generation),
        )
        return changed.rowcount > 0

    def _entry(self, original: Original) -> Entry:
        where = "WHERE conversation = ? AND seq = ? AND at = ?"
        return _entry(self._db.execute(ENTRIES + where, original).fetchone())

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._faults():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._error(str(error)) from error

    def _error(self, why: str, advice: str = "") -> InboxError:
        advice = advice or (
            "Mend that, or move the file away to begin a new one; what is not stored stays unread "
            "at the daemon."
        )
        return InboxError(f"The inbox {self.path} cannot be used: {why}. {advice}")


def inbox_path(address: Address, conversation: str) -> str:
    """Where the inbox of a participant of that daemon is."""
    return os.path.join(
        state_directory("inbox", file_name(str(address))), f"{file_name(conversation)}.sqlite3"
    )


def _entry(row: tuple[Any, ...]) -> Entry:
    conversation, text, generation, acknowledged, replaced, is_open, *reply = row
    kind, body, sent_seq, sent_in = reply
    document: Json = json.loads(text)
    return Entry(
        conversation=conversation,
        message=message(document),
        document=document,
        generation=generation,
        acknowledged=bool(acknowledged),
        replaced=bool(replaced),
        is_open=bool(is_open),
        reply=None
        if kind is None
        else Reply(kind=kind, body=body, sent_seq=sent_seq, sent_in=sent_in),
    )
