"""Letting somebody in: offering a one-time code, and taking it up for a token."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ..calls import Call
from ..models import Json, Participant, moment
from ..records import Record


class Offered(Record):
    """A code that whoever knows it may take up, once, until `expires_at`."""

    code: str
    expires_at: datetime

    def __repr__(self) -> str:
        return f"Offered(code=…, expires_at={self.expires_at!r})"


class Enrolled(Record):
    """A participant and its token, which is shown this once."""

    token: str
    participant: Participant

    def __repr__(self) -> str:
        return f"Enrolled(token=…, participant={self.participant!r})"


def offer(
    name: str,
    kind: Literal["agent", "human"],
    role: Literal["agent", "human", "operator"],
    *,
    expires_in_s: int,
) -> Call[Offered]:
    """Make a one-time code for a name. For the operator only (ForbiddenError)."""
    return Call(
        method="POST",
        path="/enrollments",
        parse=_offered,
        body={"name": name, "kind": kind, "role": role, "expires_in_s": expires_in_s},
    )


def take_up(code: str) -> Call[Enrolled]:
    """Use a code; an earlier token of the same participant ends. It needs no credential."""
    return Call(method="POST", path="/enroll", parse=_enrolled, body={"code": code})


def _offered(data: Json) -> Offered:
    return Offered(code=data["code"], expires_at=moment(data["expires_at"]))


def _enrolled(data: Json) -> Enrolled:
    return Enrolled(token=data["token"], participant=Participant.from_json(data["participant"]))
