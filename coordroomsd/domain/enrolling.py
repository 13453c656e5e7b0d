"""Enrolling: offering a code, taking it up, and revoking."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from coordroomsd.domain.commands import Decision, Needs, View
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.identities import Enrolled, Enrollment
from coordroomsd.domain.members import introduced
from coordroomsd.domain.participants import Actor, ParticipantKind, Role


@dataclass(frozen=True, slots=True)
class Offer:
    """Offer a one-time code for a name. The result is the Enrollment."""

    project: str
    name: str
    kind: ParticipantKind
    role: Role
    expires_in_s: int
    code_hash: bytes

    def needs(self) -> Needs:
        return Needs(name=(self.project, self.name))

    def decide(self, view: View) -> Decision:
        _refuse_conflict(view, self.project, self.name, self.kind, self.role)
        offer = Enrollment(
            self.code_hash,
            self.project,
            self.name,
            self.kind,
            self.role,
            view.now + timedelta(seconds=self.expires_in_s),
        )
        return Decision(offer, offered=offer)


@dataclass(frozen=True, slots=True)
class TakeUp:
    """Use a code: its participant gets the token, an earlier one ends. Results in Enrolled."""

    code_hash: bytes
    token_hash: bytes

    def needs(self) -> Needs:
        return Needs(code_hash=self.code_hash)

    def decide(self, view: View) -> Decision:
        offer = view.enrollment(self.code_hash)
        if offer is None or offer.expires_at <= view.now:
            raise Refusal(
                "enrollment_invalid", "The code is unknown, was used already, or has run out."
            )
        _refuse_conflict(view, offer.project, offer.name, offer.kind, offer.role)
        enrolled = Enrolled(offer.project, offer.name, offer.kind, offer.role, self.token_hash)
        actor = Actor(offer.project, offer.name, offer.kind, offer.role)
        participant = view.participant(actor) or introduced(view, actor)
        return Decision(
            enrolled, participants=(participant,), used_code=self.code_hash, enrolled=enrolled
        )


@dataclass(frozen=True, slots=True)
class Revoke:
    """End the token of a participant. The result is how many there were."""

    project: str
    name: str

    def needs(self) -> Needs:
        return Needs()

    def decide(self, view: View) -> Decision:
        enrolled = view.enrolled(self.project, self.name)
        if enrolled is None or enrolled.token_hash is None:
            return Decision(0)
        return Decision(1, enrolled=enrolled._replace(token_hash=None))


def _refuse_conflict(
    view: View, project: str, name: str, kind: ParticipantKind, role: Role
) -> None:
    """Raises `participant_conflict`: a name keeps kind and role, a socket's id stays its own."""
    known = view.enrolled(project, name)
    if known is None and view.is_used(project, name):
        raise Refusal("participant_conflict", f"{name} is in use as an id on the Unix socket.")
    if known is not None and (known.kind, known.role) != (kind, role):
        raise Refusal(
            "participant_conflict",
            f"{name} is enrolled as {known.role} ({known.kind}), not as {role} ({kind}).",
        )
