"""A daemon inside the test's own process that serves a Unix socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from coordroomsd.http.calls import Calls
from coordroomsd.http.credentials import EnrolledTokens
from coordroomsd.http.site import Site
from coordroomsd.serving import Server
from tests.integration.daemons import Running


class _NoGateway:
    async def stop(self, within_s: float) -> None:
        pass


@asynccontextmanager
async def served(daemon: Running, path: Path) -> AsyncIterator[None]:
    """Serves the calls at `path`, which stays, without MCP and signals, and ends in order."""
    inner, has_to_end = daemon.daemon, asyncio.Event()
    calls = Calls(inner.api, EnrolledTokens(inner.people), inner.metrics, None)
    gateway = cast(Any, _NoGateway())
    server = Server(
        calls, Site(None, [], inner.api.services.refusals), inner.hub, gateway, has_to_end
    )
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(4096)
        serving = asyncio.create_task(server.serve([listener]))
        try:
            yield
        finally:
            has_to_end.set()
            await serving
