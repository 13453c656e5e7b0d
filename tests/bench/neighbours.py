"""The neighbours that are installed: as durable as they can be made."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from tests.bench.processes import outcome, started
from tests.bench.rounds import Measure

READY_WITHIN_S = 10.0
INSTALLED_BY = {"redis-server": "make neighbours", "nats-server": "make bench"}
REDIS_DURABILITY = "appendfsync always"
# Before, it could not be told to sync before it acknowledges.
NATS_SYNCS = (2, 10)


class Neighbour:
    """A running neighbour and its loads; `client` is `client` or `raw`."""

    def __init__(self, name: str, loads: str, library: str, address: str) -> None:
        # What its rows are called, by how it is spoken to.
        self.names = {"client": f"{name}, {library}", "raw": f"{name}, bare socket"}
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
        yield Neighbour("Redis Streams", "redis", "redis-py", str(path))


@contextlib.asynccontextmanager
async def nats(directory: Path) -> AsyncIterator[Neighbour | None]:
    """NATS with JetStream on files; None when it is not installed."""
    program = _installed("nats-server")
    if program is None:
        yield None
        return
    version = _version(program)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    configuration = directory / "nats.conf"
    configuration.write_text(
        f'listen: "127.0.0.1:{port}"\n'
        f'jetstream {{ store_dir: "{directory / "nats"}"\n'
        f"{'  sync_interval: always' if version >= NATS_SYNCS else ''}\n}}\n"
    )
    async with started("nats-server", program, "-c", configuration, errors=directory / "nats.log"):
        await _until_it_answers(socket.AF_INET, ("127.0.0.1", port))
        address = f"127.0.0.1:{port}"
        yield Neighbour("NATS JetStream", "nats", "nats-py", address)


def described() -> Sequence[str]:
    """Each neighbour's version and how durable it is, or that it was left out."""
    found = []
    for program, durability in (
        ("redis-server", lambda _: REDIS_DURABILITY),
        ("nats-server", _nats_durability),
    ):
        path = _path(program)
        if path is None:
            found.append(f"{program}: not installed, left out")
        else:
            version = _version(path)
            found.append(f"{program} {'.'.join(map(str, version))}, {durability(version)}")
    return found


def _nats_durability(version: tuple[int, ...]) -> str:
    if version >= NATS_SYNCS:
        return "sync_interval always"
    return "not synced: before 2.10 it acknowledges what is not on the disk yet"


def _version(program: str) -> tuple[int, ...]:
    output = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"\bv=?(\d+)\.(\d+)\.(\d+)", output.stdout)
    if found is None:
        raise ValueError(f"{program} --version says {output.stdout!r}, and no version")
    return tuple(map(int, found.groups()))


def _installed(program: str) -> str | None:
    path = _path(program)
    if path is None:
        print(f"{program} is not installed and left out; `{INSTALLED_BY[program]}` installs it.")
    return path


def _path(program: str) -> str | None:
    # NATS comes with the bench's packages; Debian has servers where a user's path does not lead.
    own = Path(sys.executable).parent
    return shutil.which(program, path=f"{own}:{os.defpath}:/usr/sbin")


async def _until_it_answers(family: int, address: object) -> None:
    async with asyncio.timeout(READY_WITHIN_S):
        while True:
            with socket.socket(family) as probe:
                if probe.connect_ex(address) == 0:  # type: ignore[arg-type]
                    return
            await asyncio.sleep(0.02)
