"""Who may come in with a token: codes that are offered once, and who has used one."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import NamedTuple

from coordroomsd.domain.participants import ParticipantKind, Role


class Enrollment(NamedTuple):
    """An offer that whoever knows the code may take up, once, until it runs out."""

    code_hash: bytes
    project: str
    name: str
    kind: ParticipantKind
    role: Role
    expires_at: datetime


class Enrolled(NamedTuple):
    """An enrolled participant; `token_hash` is None while it has no valid token."""

    project: str
    name: str
    kind: ParticipantKind
    role: Role
    token_hash: bytes | None


def secret_hash(secret: str) -> bytes:
    """What is kept of a code or token. They have 256 random bits, so a fast hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def credential_of(one: Enrolled) -> tuple[str, str, str, bytes | None]:
    """What names a token among credentials. The next one of the same participant is another."""
    return ("token", one.project, one.name, one.token_hash)
