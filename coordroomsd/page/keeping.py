"""What outlives a restart: the page's sessions and its port, in one small file.

They are not in the database, which has no other address of this host's and is copied to places
where nobody should find who is signed in. Without the file (a full disk, a directory that may not
be written) people sign in again after a restart, and nothing else happens.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

logger = logging.getLogger(__name__)

FILE = "page.json"
_MODE = 0o600


class Session(NamedTuple):
    """A browser that is signed in. Hashes are SHA-256; `token_hash` is its person's token's."""

    cookie_hash: bytes
    key_hash: bytes
    project: str
    name: str
    token_hash: bytes
    expires_at: datetime


class Keeper:
    """`sessions` by the hash of their cookie, the oldest first."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / FILE
        self.sessions: dict[bytes, Session] = {}
        self.port: int | None = None
        self._read()

    def replace(self, sessions: Iterable[Session]) -> None:
        self.sessions = {one.cookie_hash: one for one in sessions}
        self._write()

    def forget(self, cookie_hash: bytes) -> None:
        self.sessions.pop(cookie_hash, None)
        self._write()

    def move(self, port: int) -> None:
        """The page has another address; browsers keep their keys for the old one."""
        self.port = port
        self.sessions = {}
        self._write()

    def _read(self) -> None:
        try:
            kept = json.loads(self._path.read_bytes())
            self.sessions = {one.cookie_hash: one for one in map(_session, kept["sessions"])}
            self.port = int(kept["port"]) if kept["port"] is not None else None
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, KeyError) as fault:
            logger.warning("%s is not read, so who was signed in is not: %s", self._path, fault)

    def _write(self) -> None:
        """As a whole or not at all. No fsync: what a crash loses is a sign-in."""
        content = json.dumps(
            {"port": self.port, "sessions": list(map(_row, self.sessions.values()))}
        )
        new = self._path.with_name(f"{FILE}.new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                new.unlink()
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
            with os.fdopen(descriptor, "w") as file:
                file.write(content)
            new.replace(self._path)
        except OSError as fault:
            logger.warning("%s is not written, so a restart signs out: %s", self._path, fault)


def _row(session: Session) -> dict[str, str]:
    return {
        "cookie": session.cookie_hash.hex(),
        "key": session.key_hash.hex(),
        "project": session.project,
        "name": session.name,
        "token": session.token_hash.hex(),
        "expires_at": session.expires_at.isoformat(),
    }


def _session(row: dict[str, Any]) -> Session:
    return Session(
        bytes.fromhex(row["cookie"]),
        bytes.fromhex(row["key"]),
        row["project"],
        row["name"],
        bytes.fromhex(row["token"]),
        datetime.fromisoformat(row["expires_at"]),
    )
