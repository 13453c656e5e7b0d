"""Who is calling over HTTP: a bearer token, or the peer of the Unix socket."""

from __future__ import annotations

from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import Scope

from coordroomsd.api.callers import Caller, identify_peer
from coordroomsd.domain.errors import Refusal
from coordroomsd.http.peers import PEER_UID
from coordroomsd.live.people import People


class Tokens(Protocol):
    def caller(self, token: str) -> Caller | None:
        """Whom a token is for; None when it is unknown or revoked."""


class EnrolledTokens:
    def __init__(self, people: People) -> None:
        self._people = people

    def caller(self, token: str) -> Caller | None:
        one = self._people.of_token(token)
        if one is None:
            return None
        return Caller(one.project, one.kind, one.role, one.name, ("token", one.project, one.name))


def over_socket(scope: Scope) -> bool:
    return PEER_UID in scope["extensions"]


def identify(scope: Scope, headers: Headers, tokens: Tokens) -> Caller:
    """Raises `unauthorized`. A token wins over the socket's peer: people use theirs there too."""
    given = headers.get("authorization")
    if given is not None:
        scheme, _, token = given.partition(" ")
        caller = tokens.caller(token.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            raise Refusal("unauthorized", "The token is unknown or was revoked.")
        return caller
    if over_socket(scope):
        return identify_peer(scope["extensions"][PEER_UID])
    raise Refusal("unauthorized", "A call over TCP needs a token.")
