"""What a host says to its hook: a JSON object on standard input, and which session it is."""

from __future__ import annotations

import json
import os
import select
from time import monotonic

from ..addresses import acting_conversation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..hosts.facts import Host, Json

# Hosts write at once; one that leaves the pipe open without a word is not waited for.
READ_WITHIN_S = 1.0
READ_SIZE = 65_536
# What the daemon takes for an id.
LONGEST_CONVERSATION = 200


class InputError(Exception):
    """What came in does not say which session it is about."""


def read_document(fd: int = 0, within_s: float = READ_WITHIN_S) -> Json:
    """The object on standard input, as soon as it is whole: a host may leave the pipe open."""
    data = bytearray()
    deadline = monotonic() + within_s
    try:
        while select.select([fd], [], [], max(0.0, deadline - monotonic()))[0]:
            part = os.read(fd, READ_SIZE)
            data += part
            if not part:
                break
            if part.rstrip().endswith(b"}") and not select.select([fd], [], [], 0)[0]:
                document = _parsed(data)
                if document is not None:
                    return document
    except (OSError, ValueError) as fault:
        raise InputError(f"standard input cannot be read: {fault}") from fault
    document = _parsed(data)
    if document is None:
        raise InputError(f"standard input holds no JSON object ({len(data)} bytes came)")
    return document


def conversation_of(host: Host, document: Json) -> str:
    """The id under which a session takes part: `<host>-<session>`, a subagent's behind a slash."""
    name = acting_conversation()
    if name is None:
        name = f"{host.name}-{_text(document, host.session_keys)}"
    agent = document.get("agent_id")
    if isinstance(agent, str) and agent:
        name = f"{name}/{agent}"
    if len(name) > LONGEST_CONVERSATION or not name.isprintable():
        raise InputError("the session's id is no id: too long, or with characters that do not show")
    return name


def session_of(host: Host, document: Json) -> str:
    """The session's id as its host knows it."""
    return _text(document, host.session_keys)


def _text(document: Json, names: tuple[str, ...]) -> str:
    for name in names:
        value = document.get(name)
        if isinstance(value, str) and value.strip():
            return value
    raise InputError(f"standard input names no session: {' or '.join(names)} is missing")


def _parsed(data: bytearray) -> Json | None:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
