"""`python -m tests.bench`: measure and print; after all cases, write docs/benchmarks.md."""

from __future__ import annotations

import argparse
import asyncio
import importlib

from tests.bench import reports
from tests.bench.settings import ROUNDS, Settings
from tests.bench.stages import raised

CASES = ("lone", "callers", "parked", "history", "deadlines", "pipeline", "mixed", "clients")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("case", nargs="*", help=f"only these: {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default: %(default)s")
    parser.add_argument("--small", action="store_true", help="leave out the largest sizes")
    options = parser.parse_args()
    if unknown := set(options.case) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    settings = Settings(options.rounds, options.small)
    asyncio.run(_run(options.case or CASES, settings, write=not options.case and not options.small))


async def _run(cases: tuple[str, ...], settings: Settings, *, write: bool) -> None:
    report = reports.Report()
    async with raised() as stage:
        for name in cases:
            print(f"measuring {name} …", flush=True)
            case = importlib.import_module(f"tests.bench.cases.{name}")
            findings = await case.run(stage, settings)
            report.add(findings)
            print(reports.section(findings), flush=True)
    if write:
        report.write()


if __name__ == "__main__":
    main()
