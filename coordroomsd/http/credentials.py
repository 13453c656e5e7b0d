"""Who is calling over HTTP: a bearer token, or the peer of the Unix socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from coordroomsd.api.callers import SOCKET_PROJECT, Caller, identify_peer
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.identities import credential_of
from coordroomsd.http.peers import Peer
from coordroomsd.live.people import People

# Which only a page of our own origin can send.
PAGE_HEADER = b"coordrooms-page"


class Tokens(Protocol):
    def caller(self, token: str) -> Caller | None:
        """Whom a token is for; None when it is unknown or revoked."""


class Pages(Protocol):
    """Who calls from the daemon's own page, with a session instead of a token."""

    def caller(self, header: Callable[[bytes], str | None]) -> Caller:
        """By a request's headers, named in lower case. Raises `unauthorized` and the like."""


class NoTokens:
    """For a listener that is the page's alone."""

    def caller(self, token: str) -> Caller | None:
        return None


class EnrolledTokens:
    def __init__(self, people: People) -> None:
        self._people = people

    def caller(self, token: str) -> Caller | None:
        one = self._people.of_token(token)
        if one is None:
            return None
        credential = credential_of(one)
        return Caller(one.project, one.kind, one.role, one.name, credential)


# Who takes up an enrolment code: it has nothing but the code.
NOBODY = Caller(SOCKET_PROJECT, "agent", "agent", None)


def identify(peer: Peer, authorization: str | None, tokens: Tokens) -> Caller:
    """Raises `unauthorized`. A token wins over the socket's peer: people use theirs there too."""
    if authorization is not None:
        scheme, _, token = authorization.partition(" ")
        caller = tokens.caller(token.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            raise Refusal("unauthorized", "The token is unknown or was revoked.")
        return caller
    if peer.uid is not None:
        return identify_peer(peer.uid)
    raise Refusal("unauthorized", "A call over TCP needs a token.")
