"""That the soak has no call which a healthy daemon refuses is noticed here, and not after hours."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.daemon_processes import DaemonProcess
from tests.soak.loads import Member


async def test_each_step_works_on_a_healthy_daemon(state_dir: Path) -> None:
    daemon = DaemonProcess(state_dir)
    try:
        await daemon.start()
        members = [Member(daemon.socket, "room", name, Counter()) for name in ("ann", "bob")]
        for member in members:
            await member.join()
        for member in members:
            for step in member.steps:
                await step()
        for member in members:
            member.close()
        assert await daemon.end() == 0
    finally:
        await daemon.discard()
