"""The neighbours, when Debian's packages of them are there: as durable as they can be made."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from tests.bench.processes import outcome, started
from tests.bench.rounds import Measure

READY_WITHIN_S = 10.0


class Neighbour:
    """A running neighbour, how durable it is, and its loads; `client` is `client` or `raw`."""

    def __init__(self, name: str, loads: str, address: str, durability: str) -> None:
        self.name = name
        self.durability = durability
        self._loads = loads
        self._address = address
        self._streams = count(1)

    def lone(self, client: str, count: int, body: str) -> Measure:
        return partial(self._outcome, client, do="lone", count=count, body=body)

    def callers(
        self, client: str, callers: int, streams: int, batch: int, seconds: float, body: str
    ) -> Measure:
        return partial(
            self._outcome,
            client,
            do="callers",
            callers=callers,
            streams=streams,
            batch=batch,
            seconds=seconds,
            body=body,
        )

    async def _outcome(self, client: str, **asked: Any) -> list[float]:
        stream = f"bench-{next(self._streams)}"
        found: list[float] = await outcome(
            f"{self._loads}_{client}", address=self._address, stream=stream, **asked
        )
        return found


@contextlib.asynccontextmanager
async def redis(directory: Path) -> AsyncIterator[Neighbour | None]:
    """Redis with a file that is synced before each reply; None when it is not installed."""
    program = _installed("redis-server")
    if program is None:
        yield None
        return
    path = directory / "redis.sock"
    async with started(
        "redis-server",
        *(program, "--port", "0", "--unixsocket", path, "--dir", directory, "--save", ""),
        *("--appendonly", "yes", "--appendfsync", "always", "--no-appendfsync-on-rewrite", "no"),
        *("--daemonize", "no", "--logfile", directory / "redis.log"),
    ):
        await _until_it_answers(socket.AF_UNIX, str(path))
        yield Neighbour("Redis Streams", "redis", str(path), "appendfsync always")


@contextlib.asynccontextmanager
async def nats(directory: Path) -> AsyncIterator[Neighbour | None]:
    """NATS with JetStream on files; None when it is not installed."""
    program = _installed("nats-server")
    if program is None:
        yield None
        return
    syncs = nats_version(program) >= (2, 10)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    configuration = directory / "nats.conf"
    configuration.write_text(
        f'listen: "127.0.0.1:{port}"\n'
        f'jetstream {{ store_dir: "{directory / "nats"}"\n'
        f"{'  sync_interval: always' if syncs else ''}\n}}\n"
    )
    async with started("nats-server", program, "-c", configuration, errors=directory / "nats.log"):
        await _until_it_answers(socket.AF_INET, ("127.0.0.1", port))
        durability = (
            "sync_interval always"
            if syncs
            else "not synced: before 2.10 it acknowledges what is not on the disk yet"
        )
        yield Neighbour("NATS JetStream", "nats", f"127.0.0.1:{port}", durability)


def versions() -> Sequence[str]:
    """Of the neighbours that are installed."""
    found = []
    for program, pattern in (("redis-server", r"v=([\d.]+)"), ("nats-server", r"v([\d.]+)")):
        if path := _installed(program):
            output = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
            found.append(f"{program} {re.findall(pattern, output.stdout)[0]}")
    return found


def nats_version(program: str) -> tuple[int, ...]:
    output = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return tuple(map(int, re.findall(r"\d+", output.stdout)[:2]))


def _installed(program: str) -> str | None:
    # Debian has servers where a user's path does not lead.
    path = shutil.which(program, path=f"{os.defpath}:/usr/sbin")
    if path is None:
        print(f"{program} is not installed and left out; `make neighbours` installs it.")
    return path


async def _until_it_answers(family: int, address: object) -> None:
    async with asyncio.timeout(READY_WITHIN_S):
        while True:
            with socket.socket(family) as probe:
                if probe.connect_ex(address) == 0:  # type: ignore[arg-type]
                    return
            await asyncio.sleep(0.02)
