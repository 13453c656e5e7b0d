"""The connection with the database is cut in the midst of a batch, and nobody knows what it was."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.daemon_processes import DaemonProcess
from tests.faults.rounds import one_round
from tests.integration.proxies import Cut, Proxy, proxied
from tests.polling import until


@pytest.fixture
async def proxy(connect_arguments: dict[str, Any]) -> AsyncIterator[Proxy]:
    async with proxied(connect_arguments) as proxy:
        yield proxy


@pytest.fixture
async def daemon(proxy: Proxy, state_dir: Path) -> AsyncIterator[DaemonProcess]:
    """A daemon with a configured database, behind the proxy."""
    to = proxy.arguments
    url = f"postgresql://{to['user']}@/{to['database']}?host={quote(to['host'])}&port={to['port']}"
    daemon = DaemonProcess(state_dir, options=("--database-url", url))
    try:
        await daemon.start()
        yield daemon
    finally:
        await daemon.discard()


@pytest.mark.parametrize("cut", Cut, ids=lambda cut: cut.name.lower())
async def test_a_cut_is_a_question(
    daemon: DaemonProcess, proxy: Proxy, cut: Cut, few_rounds: int, chances: random.Random
) -> None:
    async def cut_the_connection(daemon: DaemonProcess, chances: random.Random) -> None:
        cuts = proxy.cuts
        # What every message says, so that it is in the next batch that has one.
        proxy.cut_at(" says ", cut)
        await until(lambda: proxy.cuts > cuts)

    for number in range(few_rounds):
        name = f"a cut {cut.name.lower().replace('_', ' ')}"
        await one_round(daemon, cut_the_connection, chances, f"room-{number}", name)
    assert await daemon.end() == 0
    assert "ERROR" not in daemon.read_log()
