"""The daemon's refusals: one exception class for each code of its problem documents.

A problem document is RFC 9457's, with `code`, `recovery` and members that belong to the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .errors import CoordroomsError

if TYPE_CHECKING:
    from .models import Author


class RefusedError(CoordroomsError):
    """The daemon refused the call: `code`, `status`, `detail`, and `recovery` as the next step.

    `problem` is the whole document as it came. `retry_after_s` is how long to stay away, where the
    daemon says so. A code that this version does not know is a plain RefusedError.
    """

    def __init__(
        self, problem: Mapping[str, Any], status: int, retry_after_s: float | None = None
    ) -> None:
        self.problem = dict(problem)
        self.status = status
        self.retry_after_s = retry_after_s
        self.code = str(problem["code"])
        self.detail = str(problem.get("detail") or problem.get("title") or f"status {status}")
        self.recovery = str(problem.get("recovery") or "")
        what = self.detail if self.detail.endswith((".", "!", "?")) else f"{self.detail}."
        super().__init__(f"{self.code}: {what} {self.recovery}".rstrip())


class InvalidArgumentsError(RefusedError):
    @property
    def errors(self) -> list[dict[str, str]]:
        """Every fault: `[{"field": "messages[0].body", "problem": "…"}]`."""
        return [dict(fault) for fault in self.problem.get("errors") or ()]


class ConversationRequiredError(RefusedError):
    """Nobody is named as acting: give the client `as_`, or set COORDROOMS_CONVERSATION."""


class IdempotencyKeyRequiredError(RefusedError):
    pass


class UnauthorizedError(RefusedError):
    """No token, a wrong one or a revoked one."""


class EnrollmentInvalidError(RefusedError):
    pass


class ForbiddenError(RefusedError):
    pass


class ConversationNotYoursError(RefusedError):
    """The acting participant's id belongs to another credential."""


class OriginNotAllowedError(RefusedError):
    pass


class NotFoundError(RefusedError):
    """No such route: the daemon is older than this client, or the address is not its own."""


class MethodNotAllowedError(RefusedError):
    pass


class _NearNameError(RefusedError):
    @property
    def did_you_mean(self) -> str | None:
        """A name that is near the one asked for."""
        near = self.problem.get("did_you_mean")
        return None if near is None else str(near)


class RoomNotFoundError(_NearNameError):
    pass


class MessageNotFoundError(RefusedError):
    pass


class ParticipantNotFoundError(_NearNameError):
    pass


class MembershipNotFoundError(RefusedError):
    """The acting participant never joined the room."""


class _RoomNamedError(RefusedError):
    @property
    def room(self) -> str | None:
        """The room's slug, or the id of a conversation."""
        room = self.problem.get("room")
        return None if room is None else str(room)


class ActiveMembershipNotFoundError(_RoomNamedError):
    """The acting participant left the room; `room` is the one it was active in last."""


class RoomNameConflictError(RefusedError):
    pass


class ParticipantConflictError(RefusedError):
    pass


class ActiveMembershipConflictError(_RoomNamedError):
    """The acting participant is active in another room, `room`, and may be in one only."""


class _HeldError(RefusedError):
    @property
    def holder(self) -> Author | None:
        """Who holds the claim now; None when it is free."""
        from .models import Author

        holder = self.problem.get("holder")
        return None if holder is None else Author.from_json(holder)

    @property
    def expires_at(self) -> datetime | None:
        """When that lease ends unless it is renewed; None when the claim is free."""
        from .models import moment

        ends = self.problem.get("expires_at")
        return None if ends is None else moment(ends)


class ClaimConflictError(_HeldError):
    """Somebody else holds the claim."""

    @property
    def fence(self) -> int | None:
        return self.problem.get("fence")


class NotClaimHolderError(_HeldError):
    """Another holds the claim, or the fence is that of a lease that has ended."""


class ReplyTargetInvalidError(RefusedError):
    @property
    def reply_to(self) -> int | None:
        return self.problem.get("reply_to")


class UnseenMessagesError(RefusedError):
    """More was said by others than `max_unseen` allowed; nothing was stored."""

    @property
    def unseen(self) -> int:
        return int(self.problem["unseen"])

    @property
    def latest_seq(self) -> int:
        return int(self.problem["latest_seq"])


class CursorAheadError(RefusedError):
    """A number beyond the room's last event: it is from another room or another database."""


class GenerationChangedError(RefusedError):
    """The daemon's database was restored from an older copy: numbers held so far mean nothing.

    Read the room anew (`history(after_seq=0)`) and go on from there. `generation` is what it is of
    now, `latest_seq` the room's last number.
    """

    @property
    def generation(self) -> str:
        return str(self.problem["generation"])

    @property
    def latest_seq(self) -> int:
        return int(self.problem["latest_seq"])


class OwnMessageError(RefusedError):
    """`ack`, `agree` and `decline` say what others think of a message."""


class PayloadTooLargeError(RefusedError):
    pass


class UnsupportedMediaTypeError(RefusedError):
    pass


class HostNotAllowedError(RefusedError):
    pass


class IdempotencyKeyReusedError(RefusedError):
    """The idempotency key was used before, for something else."""


class RateLimitedError(RefusedError):
    """Too many calls of one sort; the next one is free in `retry_after_s`."""


class TooManyWaitersError(RefusedError):
    pass


class StoreUnavailableError(RefusedError):
    """The daemon's database is away; nothing was stored, or a retry with the same key finds it."""


class InternalServerError(RefusedError):
    @property
    def error_id(self) -> str | None:
        """The id under which the daemon logged the fault."""
        return self.problem.get("error_id")


BY_CODE: dict[str, type[RefusedError]] = {
    "invalid_arguments": InvalidArgumentsError,
    "conversation_required": ConversationRequiredError,
    "idempotency_key_required": IdempotencyKeyRequiredError,
    "unauthorized": UnauthorizedError,
    "enrollment_invalid": EnrollmentInvalidError,
    "forbidden": ForbiddenError,
    "conversation_not_yours": ConversationNotYoursError,
    "origin_not_allowed": OriginNotAllowedError,
    "not_found": NotFoundError,
    "method_not_allowed": MethodNotAllowedError,
    "room_not_found": RoomNotFoundError,
    "message_not_found": MessageNotFoundError,
    "participant_not_found": ParticipantNotFoundError,
    "membership_not_found": MembershipNotFoundError,
    "active_membership_not_found": ActiveMembershipNotFoundError,
    "room_name_conflict": RoomNameConflictError,
    "participant_conflict": ParticipantConflictError,
    "active_membership_conflict": ActiveMembershipConflictError,
    "claim_conflict": ClaimConflictError,
    "not_claim_holder": NotClaimHolderError,
    "reply_target_invalid": ReplyTargetInvalidError,
    "unseen_messages": UnseenMessagesError,
    "cursor_ahead": CursorAheadError,
    "generation_changed": GenerationChangedError,
    "own_message": OwnMessageError,
    "payload_too_large": PayloadTooLargeError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "host_not_allowed": HostNotAllowedError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "rate_limited": RateLimitedError,
    "too_many_waiters": TooManyWaitersError,
    "store_unavailable": StoreUnavailableError,
    "internal_error": InternalServerError,
}


def refusal(
    problem: Mapping[str, Any], status: int, retry_after_s: float | None = None
) -> RefusedError:
    """The exception that stands for this problem document."""
    return BY_CODE.get(str(problem["code"]), RefusedError)(problem, status, retry_after_s)
