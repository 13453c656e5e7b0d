"""Who is calling: the credential, and the participant it acts for."""

from __future__ import annotations

import functools
import os
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote_to_bytes

from coordroomsd.domain.errors import Refusal, invalid
from coordroomsd.domain.participants import Actor, ParticipantKind, Role, display_name

SOCKET_PROJECT = "default"
CONVERSATION_HEADER = "Coordrooms-Conversation"
WAKE_HEADER = "Coordrooms-Wake"
_MAX_CONVERSATION = 200


@dataclass(frozen=True, slots=True)
class Caller:
    """A credential that was accepted.

    `name` is the participant that a token is for; None for a peer of the Unix socket, who may name
    any agent.
    """

    project: str
    kind: ParticipantKind
    role: Role
    name: str | None
    # What parked calls are ended by when it is revoked.
    credential: Hashable = None
    # The user of this host that a peer of the Unix socket is.
    uid: int | None = None
    # The session of the page that it is, if it is one: signing out ends parked calls, too.
    session: Hashable = None


class People(Protocol):
    """The enrolled participants: whose ids need their token, also on the socket."""

    def needs_token(self, project: str, name: str) -> bool: ...


@functools.lru_cache(maxsize=256)
def identify_peer(uid: int) -> Caller:
    """A peer of the Unix socket. The daemon's own user and root, naming nobody, are operator."""
    role: Role = "operator" if uid in (0, os.geteuid()) else "agent"
    return Caller(SOCKET_PROJECT, "agent", role, None, ("uid", uid), uid)


def acting(caller: Caller, conversation: str | None, people: People) -> Actor | None:
    """The participant that a call acts for; None when it names none and the credential is none's.

    Raises `invalid_arguments` or `conversation_not_yours`.
    """
    if caller.name is not None:
        named = caller.name if conversation is None else conversation_id(conversation)
        if named != caller.name and not named.startswith(f"{caller.name}/"):
            raise Refusal(
                "conversation_not_yours",
                f"The token is {caller.name}'s and cannot act as {named}.",
                recovery=f"Act as {caller.name} or as {caller.name}/<anything>.",
            )
        return Actor(caller.project, named, caller.kind, caller.role)
    if conversation is None:
        return None
    named = conversation_id(conversation)
    if people.needs_token(caller.project, display_name(named)):
        raise Refusal(
            "conversation_not_yours",
            f"{display_name(named)} is a person or an operator, who needs a token here too.",
        )
    return Actor(caller.project, named, "agent", "agent")


@functools.lru_cache(maxsize=4096)
def conversation_id(sent: str) -> str:
    """The id in the header: up to 200 visible ASCII characters, others percent-encoded."""
    if not 1 <= len(sent) <= _MAX_CONVERSATION:
        raise invalid(
            CONVERSATION_HEADER,
            f"has {len(sent)} characters as sent; 1 to {_MAX_CONVERSATION} are allowed",
        )
    if not all("!" <= sign <= "~" for sign in sent):
        raise invalid(
            CONVERSATION_HEADER, "may hold visible ASCII characters only; percent-encode others"
        )
    for position, sign in enumerate(sent):
        if sign == "%" and not _is_hexadecimal(sent[position + 1 : position + 3]):
            raise invalid(
                CONVERSATION_HEADER, f"has a broken percent escape at character {position + 1}"
            )
    try:
        meant = unquote_to_bytes(sent).decode("utf-8")
    except UnicodeDecodeError:
        raise invalid(CONVERSATION_HEADER, "is not UTF-8 once decoded") from None
    if any(sign < " " or "\x7f" <= sign <= "\x9f" for sign in meant):
        raise invalid(CONVERSATION_HEADER, "must not hold control characters")
    return meant


def _is_hexadecimal(digits: str) -> bool:
    return len(digits) == 2 and all(digit in "0123456789abcdefABCDEF" for digit in digits)
