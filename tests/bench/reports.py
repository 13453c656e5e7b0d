"""What a run has found as Markdown: each case's section, and docs/benchmarks.md."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.bench.findings import Bars, Findings, Table, Target, number

_BAR = 40
_TARGET_COLUMNS = ["case", "target", "limit", "found", ""]
_ABOUT = (
    "The daemon beside its floors (the same disk, database and sockets, with nothing of ours "
    "around them) and beside neighbours that keep logs as durably. All was measured in one run, "
    "in turns: the ratios count, absolute figures are this machine's. Written by `make bench`; do "
    "not edit. `make neighbours` installs what is compared with, once, on Debian."
)


def document(about: Sequence[str], found: Sequence[Findings], failed: Sequence[str]) -> str:
    """`about` is said of the run as a whole; `failed` are the names of cases without findings."""
    parts = ["# Benchmarks", _ABOUT]
    if failed:
        parts.append(f"**These cases failed and are missing: {', '.join(failed)}.**")
    parts += [
        "## Targets",
        summary(found, linked=True),
        "## The machine and the run",
        "\n".join(f"* {line}" for line in about),
        "## At a glance",
        "![The figures as bars](benchmarks.png)",
        *(section(findings) for findings in found),
    ]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def summary(found: Sequence[Findings], *, linked: bool = False) -> str:
    """All targets in one table. A case's first one has its title, linked to its section or not."""
    targets = [target for findings in found for target in findings.targets]
    if not targets:
        return "No targets were measured."
    met = sum(target.met for target in targets)
    rows = []
    for findings in found:
        title = _link(findings.title) if linked else findings.title
        rows += [[title if n == 0 else "", *_row(t)] for n, t in enumerate(findings.targets)]
    return f"{met} of {len(targets)} are met.\n\n{_table(Table(_TARGET_COLUMNS, rows))}"


def _link(title: str) -> str:
    """To the section below that title, as GitHub and its like name sections."""
    kept = re.sub(r"[^\w\- ]", "", title.lower())
    return f"[{title}](#{kept.replace(' ', '-')})"


def section(findings: Findings) -> str:
    parts = [f"## {findings.title}", findings.about]
    parts += [_table(table) for table in findings.tables]
    parts += [_bars(bars) for bars in findings.bars]
    parts += findings.notes
    return "\n\n".join(parts) + "\n"


def _row(target: Target) -> list[str]:
    return [
        target.text,
        f"{target.kind} {number(target.limit)} {target.unit}",
        f"{_found(target)} {target.unit}",
        "met" if target.met else "**not met**",
    ]


def _found(target: Target) -> str:
    """Rounded, unless that would hide on which side of the limit it is."""
    text = number(target.found)
    return text if text != number(target.limit) else f"{target.found:,.6g}"


def _table(table: Table) -> str:
    lines = [table.columns, ["---", *["--:"] * (len(table.columns) - 1)], *table.rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _bars(bars: Bars) -> str:
    widest = max(map(len, bars.values))
    most = max(bars.values.values())
    lines = [
        f"{name:<{widest}}  {_bar(value, most)} {number(value)}"
        for name, value in bars.values.items()
    ]
    return "\n".join(["```text", f"{bars.title}, {bars.unit}", *lines, "```"])


def _bar(value: float, most: float) -> str:
    return "█" * max(1, round(_BAR * value / most)) if value else ""
