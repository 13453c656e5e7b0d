"""What the journal is handed: a command, how to answer it, the key to repeat it under."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coordroomsd.domain.commands import Command, Decision
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.participants import Actor, Participant
from coordroomsd.journal.draft import Draft
from coordroomsd.store.rows import KeptAnswer, Key


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call is answered with; `replayed` when an earlier call under the same key was."""

    status: int
    body: bytes
    replayed: bool = False
    # When what a parked call was woken by had been committed, by the daemon's even clock.
    woken_at: float | None = None


# Makes the answer from what was decided; runs within the batch and must not wait.
Respond = Callable[[Decision, Draft], Answer]


@dataclass(frozen=True, slots=True)
class KeyedCall:
    """An idempotency key with its scope and the hash of the call's content."""

    actor: Actor
    room_id: int
    route: str
    key: str
    fingerprint: bytes

    def of(self, participant: Participant) -> Key:
        return Key(self.room_id, participant.id, self.route, self.key)

    def check(self, kept: KeptAnswer) -> Answer:
        """The answer given then. Raises `idempotency_key_reused`."""
        if kept.fingerprint != self.fingerprint:
            raise Refusal(
                "idempotency_key_reused",
                f"The key {self.key!r} was used for other content by {self.actor.conversation_id}.",
            )
        return Answer(kept.status, kept.body, replayed=True)


class Submission:
    """One command on its way. Its caller awaits `future`; who gave up is not begun."""

    __slots__ = ("answer", "command", "fault", "future", "keyed", "respond")

    def __init__(self, command: Command, respond: Respond, keyed: KeyedCall | None) -> None:
        self.command = command
        self.respond = respond
        self.keyed = keyed
        self.future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.answer: Answer | None = None
        self.fault: Exception | None = None

    def decide(self, draft: Draft, kept: dict[Key, KeptAnswer]) -> None:
        """Decide on the draft. A Refusal becomes the outcome; anything else is raised."""
        self.answer, self.fault = None, None
        try:
            self.answer = self._replay(draft, kept) or self._decide(draft)
        except Refusal as refusal:
            self.fault = refusal

    def settle(self) -> None:
        """Tell the caller, once what it caused is stored."""
        if self.future.done():
            return
        if self.fault:
            self.future.set_exception(self.fault)
        else:
            assert self.answer is not None
            self.future.set_result(self.answer)

    def fail(self, fault: Exception) -> None:
        self.fault = fault
        self.settle()

    def _replay(self, draft: Draft, kept: dict[Key, KeptAnswer]) -> Answer | None:
        participant = self.keyed and draft.participant(self.keyed.actor)
        if not self.keyed or not participant:
            return None
        key = self.keyed.of(participant)
        found = draft.answers.get(key) or kept.get(key)
        return self.keyed.check(found) if found else None

    def _decide(self, draft: Draft) -> Answer:
        decision: Decision = self.command.decide(draft)
        draft.apply(decision)
        answer = self.respond(decision, draft)
        if self.keyed:
            participant: Any = draft.participant(self.keyed.actor)
            kept = KeptAnswer(self.keyed.fingerprint, answer.status, answer.body)
            draft.answers[self.keyed.of(participant)] = kept
        return answer
