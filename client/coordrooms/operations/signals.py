"""Statuses, reactions and claims: what makes members visible to each other."""

from __future__ import annotations

from ..calls import Call, idempotency
from ..escapes import path_segment
from ..models import Claim
from ..signals import Claimed, Reaction, ReactionChange, Released, StatusChange
from .rooms import room_path

# The contract's default.
DEFAULT_LEASE_S = 3600


def set_status(room: str, status: str, *, expires_in_s: int | None = None) -> Call[StatusChange]:
    """Show a line to everyone in the room, for 1 to 3600 s (300 unless told otherwise)."""
    body: dict[str, str | int] = {"status": status}
    if expires_in_s is not None:
        body["expires_in_s"] = expires_in_s
    return _put_status(room, body)


def clear_status(room: str) -> Call[StatusChange]:
    return _put_status(room, {"status": None})


def react(
    room: str, message_id: int, reaction: str, *, after_seq: int | None = None
) -> Call[ReactionChange]:
    """Add `ack`, `agree`, `decline`, `like`, `love`, `fire` or `ok`; a second time is free."""
    return _reaction("PUT", room, message_id, reaction, after_seq)


def unreact(
    room: str, message_id: int, reaction: str, *, after_seq: int | None = None
) -> Call[ReactionChange]:
    """Take a reaction back."""
    return _reaction("DELETE", room, message_id, reaction, after_seq)


def reactions(room: str, message_id: int) -> Call[list[Reaction]]:
    """Who reacted to a message, and how."""
    return Call(
        method="GET",
        path=room_path(room, f"/messages/{message_id}/reactions"),
        parse=lambda data: [Reaction.from_json(row) for row in data["reactions"]],
    )


def claims(room: str) -> Call[list[Claim]]:
    """What is claimed now."""
    return Call(
        method="GET",
        path=room_path(room, "/claims"),
        parse=lambda data: [Claim.from_json(row) for row in data["claims"]],
    )


def take(
    room: str,
    key: str,
    *,
    lease_s: int = DEFAULT_LEASE_S,
    proposed_by_seq: int | None = None,
    fence: int | None = None,
    idempotency_key: str | None = None,
) -> Call[Claimed]:
    """Claim a piece of work for `lease_s` (60 to 86400 s), or renew one's own claim to it.

    ClaimConflictError when another holds it. With `fence` it only ever renews: NotClaimHolderError
    when that lease has ended. `claim` holds it for as long as a block lasts.
    """
    body: dict[str, str | int] = {"key": key, "lease_s": lease_s}
    if proposed_by_seq is not None:
        body["proposed_by_seq"] = proposed_by_seq
    if fence is not None:
        body["fence"] = fence
    return Call(
        method="POST",
        path=room_path(room, "/claims"),
        parse=Claimed.from_json,
        body=body,
        key=idempotency(idempotency_key),
    )


def release(room: str, key: str, *, fence: int | None = None) -> Call[Released]:
    """Give a claim back; with `fence` only that lease of it."""
    return Call(
        method="DELETE",
        path=room_path(room, "/claims"),
        parse=Released.from_json,
        query={"key": key, "fence": fence},
    )


def _put_status(room: str, body: dict[str, str | int] | dict[str, None]) -> Call[StatusChange]:
    return Call(
        method="PUT", path=room_path(room, "/status"), parse=StatusChange.from_json, body=body
    )


def _reaction(
    method: str, room: str, message_id: int, reaction: str, after_seq: int | None
) -> Call[ReactionChange]:
    return Call(
        method=method,
        path=room_path(room, f"/messages/{message_id}/reactions/{path_segment(reaction)}"),
        parse=ReactionChange.from_json,
        query={"after_seq": after_seq},
    )
