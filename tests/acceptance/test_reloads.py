"""A daemon that reads its configuration again, as whoever runs it sees that."""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path

from tests.acceptance.processes import ROOM, Make, account, daemon, home, make, two_in_a_room
from tests.daemon_processes import WITHOUT_LIMITS, DaemonProcess, made_state
from tests.http_callers import Caller
from tests.polling import until

__all__ = ["account", "daemon", "home", "made_state", "make"]

_numbers = itertools.count()


async def sets_status(caller: Caller) -> int:
    status = {"status": f"at step {next(_numbers)}", "expires_in_s": 60}
    return (await caller.call("PUT", f"{ROOM}/status", status)).status


async def test_a_hang_up_reads_the_limits_again(daemon: DaemonProcess) -> None:
    ann, bob = await two_in_a_room(daemon)
    daemon.configure(
        WITHOUT_LIMITS.replace("status_burst = 0", "status_burst = 1\nstatus_per_s = 0.001")
    )
    os.kill(daemon.pid, signal.SIGHUP)
    await until(lambda: "status_burst has changed" in daemon.read_log())
    answers = [await sets_status(caller) for caller in (ann, ann, bob)]
    assert answers == [200, 429, 200]
    daemon.configure(WITHOUT_LIMITS.replace("status", "sttaus"))
    os.kill(daemon.pid, signal.SIGHUP)
    await until(lambda: "did you mean [limits] status_burst?" in daemon.read_log())
    assert await sets_status(ann) == 429
    daemon.configure(WITHOUT_LIMITS + "[database]\nrun_as = 'ann'\n[log]\nlevel = 'error'")
    os.kill(daemon.pid, signal.SIGHUP)
    await until(lambda: "waits for a restart" in daemon.read_log())
    assert "[database] run_as has changed" in daemon.read_log()
    assert await sets_status(ann) == 200
    assert await daemon.end() == 0


async def test_in_a_terminal_too_unless_that_is_gone(make: Make, home: Path) -> None:
    daemon = make(home)
    ours, its = os.openpty()
    daemon.spawn(terminal=its)
    os.close(its)
    await daemon.ready()
    os.kill(daemon.pid, signal.SIGHUP)
    await until(lambda: "was read again" in daemon.read_log())
    os.close(ours)
    assert await daemon.exit_code() == 0


async def test_asked_again_and_again_while_it_starts(make: Make, home: Path) -> None:
    daemon = make(home)
    daemon.spawn()
    await until((daemon.state_dir / "lock").exists)
    for _ in range(100):
        os.kill(daemon.pid, signal.SIGHUP)
    await daemon.ready()
    await until(lambda: "was read again" in daemon.read_log())
    assert await daemon.end() == 0
