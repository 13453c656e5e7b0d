"""What a case has found: tables, whether targets are met, and what to plot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tests.bench.figures import Rounds


class Table(NamedTuple):
    columns: list[str]
    rows: list[list[str]]


class Target(NamedTuple):
    """`found` is compared with `limit`; `kind` says which side of it is good."""

    text: str
    kind: Literal["at most", "at least"]
    limit: float
    found: float
    unit: str = "×"

    @property
    def met(self) -> bool:
        return self.found <= self.limit if self.kind == "at most" else self.found >= self.limit


class Bars(NamedTuple):
    """One bar for each name."""

    title: str
    unit: str
    values: dict[str, float]


@dataclass(slots=True)
class Findings:
    title: str
    about: str
    tables: list[Table] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    bars: list[Bars] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def quantiles(rounds: Rounds) -> list[str]:
    """p50, p90 and p99 in milliseconds."""
    return [
        milliseconds(each) for each in (rounds.median, rounds.quantile(0.9), rounds.quantile(0.99))
    ]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.3g}" if seconds < 0.1 else f"{seconds * 1000:,.0f}"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
