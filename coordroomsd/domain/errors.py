"""Refusals: every way in which the daemon says no, with its code, status and what to do next."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Kind(NamedTuple):
    """What all refusals of one code share."""

    status: int
    title: str
    recovery: str
    retry_after_s: int | None = None


CODES: Final[dict[str, Kind]] = {
    "invalid_arguments": Kind(
        400, "Invalid arguments", "Correct the fields named in `errors` and send the call again."
    ),
    "conversation_required": Kind(
        400,
        "No participant named",
        "Name the acting participant in the header Coordrooms-Conversation.",
    ),
    "idempotency_key_required": Kind(
        400,
        "Idempotency-Key required",
        "Send a fresh Idempotency-Key, and the same one when you retry this message.",
    ),
    "unauthorized": Kind(
        401, "Not authorized", "Send a valid token as `Authorization: Bearer …`, or enrol anew."
    ),
    "enrollment_invalid": Kind(
        401, "Enrolment code invalid", "Ask the operator for a new enrolment code."
    ),
    "forbidden": Kind(
        403, "Not allowed", "Do not repeat the call; ask the operator if you need it."
    ),
    "conversation_not_yours": Kind(
        403,
        "Another's conversation id",
        "Act under the id that your host or your token gave you.",
    ),
    "origin_not_allowed": Kind(
        403, "Foreign origin", "Call from the daemon's own page, or without a browser's headers."
    ),
    "not_found": Kind(404, "No such route", "See /openapi.json for the calls there are."),
    "method_not_allowed": Kind(
        405, "No such method here", "Use a method that the header Allow lists."
    ),
    "room_not_found": Kind(
        404, "No such room", "List the rooms, or create the room if it should exist."
    ),
    "message_not_found": Kind(
        404, "No such message", "Read the room's history for the numbers of its messages."
    ),
    "participant_not_found": Kind(
        404, "No such participant", "List the participants for the ids there are."
    ),
    "membership_not_found": Kind(404, "Not a member", "Join the room first."),
    "active_membership_not_found": Kind(
        409, "Not an active member", "Join the room again, or another one."
    ),
    "room_name_conflict": Kind(
        409, "Room name taken", "Join the room of that name, or choose another name."
    ),
    "participant_conflict": Kind(
        409,
        "Participant name in use",
        "Enrol under another name, or with the kind and role the name has.",
    ),
    "active_membership_conflict": Kind(
        409, "Active in another room", "Leave the room you are active in, then try again."
    ),
    "claim_conflict": Kind(
        409,
        "Claimed by another",
        "Do other work, or wait with wake_on free:<key> until the claim ends.",
    ),
    "not_claim_holder": Kind(
        409,
        "Not the holder of the claim",
        "Stop work under this claim; claim the key again if it is free.",
    ),
    "reply_target_invalid": Kind(
        409, "Cannot reply to that", "Name a message of this room that can be replied to."
    ),
    "unseen_messages": Kind(
        409,
        "Unseen messages",
        "Read the messages after your after_seq, then decide whether to post.",
    ),
    "cursor_ahead": Kind(
        409,
        "Number beyond the room's head",
        "Carry next_after_seq from your last wait; begin at 0 if the room was restored.",
    ),
    "generation_changed": Kind(
        409,
        "The database was restored",
        "Forget the numbers of the old generation and read the room from after_seq=0.",
    ),
    "own_message": Kind(
        409, "One's own message", "React to others' messages; post a message to add to your own."
    ),
    "payload_too_large": Kind(413, "Too large", "Send less: split it into several messages."),
    "unsupported_media_type": Kind(
        415, "Not JSON", "Send JSON with Content-Type: application/json."
    ),
    "host_not_allowed": Kind(
        421, "Foreign Host", "Call the daemon under the address that it listens on."
    ),
    "idempotency_key_reused": Kind(
        422, "Key used for other content", "Use a new key for a different call."
    ),
    "rate_limited": Kind(429, "Too many calls", "Wait for retry_after_s seconds, then go on."),
    "internal_error": Kind(
        500, "Internal error", "Try once more; report error_id to the operator if it stays."
    ),
    "too_many_waiters": Kind(
        503,
        "Too many waiters",
        "Wait for the seconds in Retry-After, then wait again.",
        retry_after_s=5,
    ),
    "store_unavailable": Kind(
        503,
        "Database unreachable",
        "Retry with the same Idempotency-Key; nothing is lost or done twice.",
        retry_after_s=1,
    ),
}


class Refusal(Exception):
    """The daemon says no. `extra` are the further members that the contract has for the code."""

    def __init__(
        self, code: str, detail: str, *, recovery: str | None = None, **extra: Any
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.recovery = recovery or CODES[code].recovery
        if CODES[code].retry_after_s is not None:
            extra.setdefault("retry_after_s", CODES[code].retry_after_s)
        self.extra = extra

    @property
    def status(self) -> int:
        return CODES[self.code].status

    def problem(self) -> dict[str, Any]:
        """The problem document of RFC 9457."""
        return {
            "type": f"urn:coordrooms:{self.code}",
            "title": CODES[self.code].title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "recovery": self.recovery,
            **self.extra,
        }


def invalid(field: str, problem: str) -> Refusal:
    """`invalid_arguments` for one field."""
    return invalid_fields([(field, problem)])


def invalid_fields(faults: list[tuple[str, str]]) -> Refusal:
    """`invalid_arguments` for every fault, as (field, problem)."""
    detail = "; ".join(f"{field} {problem}" if field else problem for field, problem in faults[:5])
    if len(faults) > 5:
        detail += f"; and {len(faults) - 5} more"
    return Refusal(
        "invalid_arguments",
        detail,
        errors=[{"field": field, "problem": problem} for field, problem in faults],
    )
