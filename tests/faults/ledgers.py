"""What was said in a room under keys, and what its authors were told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tests.model import checker
from tests.model.checker import Json, Log, Operation

_RECENT: Final = 20


@dataclass(slots=True)
class Ledger:
    """One for a room: every author enters what it sends, and its answers."""

    bodies: list[str] = field(default_factory=list)
    answers: list[Json] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)

    def sends(self, body: str) -> None:
        self.bodies.append(body)

    def is_told(self, began: float, answered: float, answer: Json) -> None:
        self.answers.append(answer)
        self.operations.append(Operation(began, answered, answer["latest_seq"]))

    def recent(self, kind: str | None = None) -> list[Json]:
        """The last messages that were acknowledged, of a kind or of any."""
        messages = [answer["messages"][0] for answer in self.answers[-_RECENT:]]
        return [m for m in messages if kind in (None, m["kind"])]

    @property
    def latest_seq(self) -> int:
        return max((operation.seq for operation in self.operations), default=0)

    def check(self, log: Log) -> None:
        checker.check_sent(log, acknowledged=self.bodies, tried=self.bodies)
        checker.check_acknowledged(log, self.answers)
        checker.check_order(self.operations)
