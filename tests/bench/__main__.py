"""Measure the daemon beside floors and neighbours, and write docs/benchmarks.md after all cases."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import importlib.util
import resource
import shlex
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from tests.bench import machines, reports
from tests.bench.findings import Findings
from tests.bench.settings import ROUNDS, SMALL_ROUNDS, Settings
from tests.bench.stages import raised

CASES = (
    "lone", "callers", "parked", "history", "deadlines", "pipeline", "mixed", "clients", "sessions",
)  # fmt: skip
DOCS = Path(__file__).parents[2] / "docs"
ENDED_BY_SIGNAL = 130
# The longest takes five minutes, and a quarter of an hour where others use the machine as well.
CASE_WITHIN_S = 1800.0


def main() -> int:
    """Returns the exit code: 1 when a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("case", nargs="*", help=f"only these: {', '.join(CASES)}")
    parser.add_argument(
        "--rounds", type=int, help=f"default: {ROUNDS}, with --small {SMALL_ROUNDS}"
    )
    parser.add_argument(
        "--small", action="store_true", help="small sizes: two minutes, to see whether it works"
    )
    parser.add_argument(
        "--write",
        type=Path,
        metavar="DIR",
        help="write benchmarks.md and benchmarks.png there; "
        f"by default a run of all cases that is not small writes to {DOCS.name}/",
    )
    options = parser.parse_args()
    if unknown := set(options.case) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    if missing := [name for name in machines.NEEDED if importlib.util.find_spec(name) is None]:
        parser.error(f"not installed: {', '.join(missing)}; `make bench` installs what is needed")
    rounds = options.rounds or (SMALL_ROUNDS if options.small else ROUNDS)
    settings = Settings(rounds, options.small)
    directory = options.write or (None if options.case or options.small else DOCS)
    # Else the run would be for nothing.
    if directory and not directory.is_dir():
        parser.error(f"--write: {directory} is no directory; make it first")
    # Inherited by loads and floors, of which some have 10,000 connections.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with suppress(asyncio.CancelledError):
        return asyncio.run(_run(options.case or CASES, settings, directory))
    return ENDED_BY_SIGNAL


async def _run(cases: Sequence[str], settings: Settings, directory: Path | None) -> int:
    _end_with_signals()
    began = datetime.now(UTC)
    load = machines.load()
    found: list[Findings] = []
    failed = []
    async with raised() as stage:
        for name in cases:
            print(f"measuring {name} …", flush=True)
            case_began = time.monotonic()
            case = importlib.import_module(f"tests.bench.cases.{name}")
            try:
                async with asyncio.timeout(CASE_WITHIN_S):
                    findings: Findings = await case.run(stage, settings)
            except Exception:
                # The others are worth their minutes all the same.
                traceback.print_exc()
                failed.append(name)
                continue
            found.append(findings)
            took = time.monotonic() - case_began
            print(f"{reports.section(findings)}\n({name}: {took:.0f} s)\n", flush=True)
    print(reports.summary(found))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    if directory:
        command = shlex.join(["python", "-m", "tests.bench", *sys.argv[1:]])
        about = machines.described(began, datetime.now(UTC), command, load)
        (directory / "benchmarks.md").write_text(reports.document(about, found, failed))
        # Takes a second to load, and is not there without the bench's own packages.
        from tests.bench import plots

        plots.draw([bars for each in found for bars in each.bars], directory / "benchmarks.png")
    return 1 if failed else 0


def _end_with_signals() -> None:
    """The first one cancels the run; those that follow do not disturb its ending."""
    run = asyncio.current_task()
    assert run is not None
    asked = False

    def end() -> None:
        nonlocal asked
        if not asked:
            asked = True
            print("\nending what was started …", file=sys.stderr, flush=True)
            run.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end)


if __name__ == "__main__":
    sys.exit(main())
