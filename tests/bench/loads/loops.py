"""The event loops that floors are measured on: asyncio's own, and the one that the daemon uses."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import uvloop


def run(loop: str, main: Coroutine[Any, Any, None]) -> None:
    """`loop` is `asyncio` or `uvloop`."""
    factory = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}[loop]
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main)
