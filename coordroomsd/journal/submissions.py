"""What the journal is handed: a command, how to answer it, the key to repeat it under."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from coordroomsd.domain.commands import Command, Decision
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.participants import Actor, Participant
from coordroomsd.journal.draft import Draft
from coordroomsd.live.tracing import CURRENT
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


class Stages(NamedTuple):
    """When a batch came to what; its every command goes all of this way, a refused one too."""

    begun: float
    decided: float
    # None when there was nothing to commit.
    committed: float | None
    published: float


class Submission:
    """One command on its way. Its caller awaits `future`; who gave up is not begun."""

    __slots__ = (
        "_span",
        "answer",
        "command",
        "fault",
        "future",
        "keyed",
        "queued_at",
        "respond",
    )  # fmt: skip

    def __init__(
        self,
        command: Command,
        respond: Respond,
        keyed: KeyedCall | None,
        queued_at: float = 0.0,
    ) -> None:
        self.command = command
        self.respond = respond
        self.keyed = keyed
        self.queued_at = queued_at
        self._span = CURRENT.get()
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

    def trace(self, stages: Stages) -> None:
        """Tell what it went through, if its call is traced."""
        if self._span is None:
            return
        self._span.part("queue", self.queued_at, stages.begun)
        self._span.part("decide", stages.begun, stages.decided)
        if stages.committed is not None:
            self._span.part("commit", stages.decided, stages.committed)
            self._span.part("publish", stages.committed, stages.published)

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
        if self._span is not None and decision.room is not None:
            self._span.stored(decision.room.id, [event.seq for event in decision.events])
        answer = self.respond(decision, draft)
        if self.keyed:
            participant: Any = draft.participant(self.keyed.actor)
            kept = KeptAnswer(self.keyed.fingerprint, answer.status, answer.body)
            draft.answers[self.keyed.of(participant)] = kept
        return answer
