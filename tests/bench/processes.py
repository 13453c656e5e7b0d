"""Processes of the bench: started, spoken with, measured and ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

STOP_WITHIN_S = 20.0
# No load works longer than this without a word.
SILENT_FOR_S = 180.0
REPOSITORY = Path(__file__).parents[2]


class Memory(NamedTuple):
    """Of one process, in bytes. Private and dirty is what would be free without the process."""

    resident: int
    private_dirty: int


class Process:
    """A child with pipes; `name` is for messages."""

    def __init__(self, name: str, child: asyncio.subprocess.Process) -> None:
        self.name = name
        self._child = child
        self._began = time.perf_counter()

    @property
    def pid(self) -> int:
        return self._child.pid

    async def line(self, within_s: float = SILENT_FOR_S) -> bytes:
        """The next line of its output. Raises ChildProcessError when it ended instead."""
        assert self._child.stdout is not None
        async with asyncio.timeout(within_s):
            line = await self._child.stdout.readline()
        if not line:
            raise ChildProcessError(f"{self.name} ended with code {await self._child.wait()}")
        return line

    async def until(self, beginning: bytes) -> float:
        """Seconds from the start of the process to a line that begins so."""
        while not (await self.line()).startswith(beginning):
            pass
        return time.perf_counter() - self._began

    async def said(self) -> Any:
        """The next line as JSON."""
        return json.loads(await self.line())

    def go_on(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(b"\n")

    async def ended(self) -> None:
        """Raises ChildProcessError when it failed."""
        if code := await self._child.wait():
            raise ChildProcessError(f"{self.name} ended with code {code}")

    async def stop(self) -> None:
        """SIGTERM, and SIGKILL for one that does not heed it."""
        with contextlib.suppress(ProcessLookupError):
            self._child.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_WITHIN_S):
                await self._child.wait()
        except TimeoutError:
            self._child.kill()
            await self._child.wait()

    def cpu_s(self) -> float:
        """Processor time that it has used, its threads' included."""
        return cpu_s(self.pid)

    def memory(self) -> Memory:
        return memory(self.pid)


@contextlib.asynccontextmanager
async def started(
    name: str,
    *command: str | Path,
    errors: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Process]:
    """The process, stopped at the end. Its standard error goes to `errors`, or is shown."""
    with contextlib.ExitStack() as files:
        error_file = files.enter_context(errors.open("ab")) if errors else None
        child = await asyncio.create_subprocess_exec(
            *map(str, command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=error_file,
            cwd=REPOSITORY,
            env={**os.environ, **(environment or {})},
            limit=1 << 26,
            # A Ctrl-C is for the bench, which then ends them one after the other.
            process_group=0,
        )
    process = Process(name, child)
    try:
        yield process
    finally:
        await process.stop()


@contextlib.asynccontextmanager
async def load(program: str, **asked: Any) -> AsyncIterator[Process]:
    """A load generator, by the name of its module in `loads`."""
    module = f"tests.bench.loads.{program}"
    async with started(program, sys.executable, "-m", module, json.dumps(asked)) as process:
        yield process


async def outcome(program: str, **asked: Any) -> list[Any]:
    """What a load says that has nothing to be told in between."""
    async with load(program, **asked) as process:
        found: list[Any] = await process.said()
        await process.ended()
        return found


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> Memory:
    kib = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, value, *_ = line.split()
        kib[name] = int(value) * 1024
    return Memory(kib["Rss:"], kib["Private_Dirty:"])
