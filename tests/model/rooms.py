"""What a room of the model is made of, and how it is spelled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Json = dict[str, Any]

PROTOCOL = ("ack", "agree", "decline")


class RefusedError(Exception):
    """The call is refused, with one of these codes, and changes nothing."""

    def __init__(self, *codes: str) -> None:
        super().__init__(", ".join(codes))
        self.codes = codes


def on_the_wire(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


@dataclass
class Member:
    joined: int
    active: bool = True
    cursor: int = 0
    last_seen: int = 0


@dataclass
class Held:
    """A status or a claim."""

    who: str
    since: datetime
    ends: datetime
    text: str = ""
    fence: int = 0
    proposed_by: int | None = None


@dataclass
class RoomModel:
    log: list[Json] = field(default_factory=list)
    members: dict[str, Member] = field(default_factory=dict)
    statuses: dict[str, Held] = field(default_factory=dict)
    claims: dict[str, Held] = field(default_factory=dict)
    reactions: set[tuple[int, str, str]] = field(default_factory=set)

    @property
    def head(self) -> int:
        return len(self.log)

    def message(self, seq: int) -> Json | None:
        found = self.log[seq - 1] if 0 < seq <= self.head else None
        return found if found and found["type"] == "message" else None

    def others(self, who: str, after: int) -> list[Json]:
        return [event for event in self.log[after:] if event["author"] != who]

    def unseen(self, who: str, after: int) -> int:
        return sum(event["type"] == "message" for event in self.others(who, after))

    def counts(self, message: int) -> dict[str, Json]:
        held = sorted(reaction for at, _, reaction in self.reactions if at == message)
        return {reaction: {"total": held.count(reaction), "human": 0} for reaction in held}

    def shown(self, who: str, began: int, ended: int) -> None:
        member = self.members[who]
        if began <= member.last_seen:
            member.last_seen = max(member.last_seen, ended)


def wakes(event: Json, wake_on: Iterable[str]) -> bool:
    """Whether an event of somebody else ends a wait."""
    return any(
        event["type"] == part
        or (part == "expiry" and event["reason"] == "expired")
        or (part.startswith("answer:") and event.get("reply_to") == int(part[7:]))
        for part in wake_on
    )


def status_fields(held: Held) -> Json:
    return {
        "status": held.text,
        "since": on_the_wire(held.since),
        "expires_at": on_the_wire(held.ends),
    }


def lease_fields(key: str, held: Held) -> Json:
    return {
        "key": key,
        "fence": held.fence,
        "expires_at": on_the_wire(held.ends),
        "proposed_by_seq": held.proposed_by,
    }


def claim_fields(key: str, held: Held) -> Json:
    return {"holder": held.who, "since": on_the_wire(held.since), **lease_fields(key, held)}
