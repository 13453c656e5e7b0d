"""docs/benchmarks.md and its plot, written by the run that measured."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from tests.bench import machines, plots
from tests.bench.findings import Bars, Findings, Table, Target, number

DOCS = Path(__file__).parents[2] / "docs"
_BAR = 40


class Report:
    def __init__(self) -> None:
        self._began = datetime.now(UTC)
        self._findings: list[Findings] = []

    def add(self, findings: Findings) -> None:
        self._findings.append(findings)

    def write(self) -> None:
        targets = [target for findings in self._findings for target in findings.targets]
        text = "\n".join(
            [
                "# Benchmarks",
                "",
                "Written by `make bench`; do not edit. Everything here was measured in one run, "
                "floors and neighbours included: ratios count, absolute figures are this "
                "machine's.",
                "",
                *(f"* {line}" for line in machines.described(self._began)),
                "",
                "## Targets",
                "",
                _targets(targets),
                "",
                "![The figures as bars](benchmarks.png)",
                "",
                *(section(findings) for findings in self._findings),
            ]
        )
        (DOCS / "benchmarks.md").write_text(text.rstrip() + "\n")
        plots.draw([bars for f in self._findings for bars in f.bars], DOCS / "benchmarks.png")


def section(findings: Findings) -> str:
    parts = [f"## {findings.title}", findings.about]
    parts += [_table(table) for table in findings.tables]
    parts += [_bars(bars) for bars in findings.bars]
    parts += findings.notes
    if findings.targets:
        parts.append(_targets(findings.targets))
    return "\n\n".join(parts) + "\n"


def _targets(targets: Iterable[Target]) -> str:
    rows = [
        [
            target.text,
            f"{target.kind} {number(target.limit)} {target.unit}",
            f"{number(target.found)} {target.unit}",
            "met" if target.met else "**not met**",
        ]
        for target in targets
    ]
    return _table(Table(["target", "limit", "found", ""], rows))


def _table(table: Table) -> str:
    lines = [table.columns, ["---", *["--:"] * (len(table.columns) - 1)], *table.rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _bars(bars: Bars) -> str:
    widest = max(map(len, bars.values))
    most = max(bars.values.values())
    lines = [
        f"{name:<{widest}}  {'█' * max(1, round(_BAR * value / most))} {number(value)}"
        for name, value in bars.values.items()
    ]
    return "\n".join(["```text", f"{bars.title}, {bars.unit}", *lines, "```"])
