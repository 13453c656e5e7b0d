"""What tests measure and do not judge: it is told at the end of the run."""

from __future__ import annotations

from typing import Final

import pytest

_MEASURED: Final[dict[str, list[float]]] = {}


def report(what: str, amount: float, unit: str = "s") -> None:
    """Once for each time that it was measured."""
    _MEASURED.setdefault(f"{what} ({unit})", []).append(amount)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _MEASURED:
        return
    terminalreporter.section("measured: half of them, 95 %, all within")
    for what, amounts in sorted(_MEASURED.items()):
        ordered = sorted(amounts)
        half, most, every = (ordered[int(part * (len(ordered) - 1))] for part in (0.5, 0.95, 1))
        times = "once" if len(ordered) == 1 else f"{len(ordered)} times"
        terminalreporter.line(f"{what}, {times}: {half:.2f} {most:.2f} {every:.2f}")
