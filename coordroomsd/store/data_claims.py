"""Making sure that no server uses the data, before another one is started on it.

Every process of a private server inherits the claim, a lock, so that it tells whether one is
left: after a killed daemon, and also where the two are in different containers that share the
directory and PostgreSQL's own check (a process id, a shared memory segment) sees nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from typing import Final

from coordroomsd.store.errors import ServerFailedError, StateDirectoryInUseError
from coordroomsd.store.file_locks import FileLock
from coordroomsd.store.server_processes import postmaster_pid, serves
from coordroomsd.store.state_directories import StateDirectory

# PostgreSQL's fast shutdown, then immediate, then by force, each with its seconds.
STOP_STEPS: Final = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))
_LOOK_EVERY_S: Final = 0.02


def hold_state(state: StateDirectory) -> FileLock:
    """The daemon's own lock, for as long as it runs.

    :raises StateDirectoryInUseError: another daemon has it; names its process id.
    """
    lock = FileLock(state.lock)
    if lock.acquire():
        try:
            lock.write_note(str(os.getpid()))
        except OSError:
            lock.remove()
            raise
        return lock
    holder = lock.read_note() or "unknown"
    lock.close()
    raise StateDirectoryInUseError(
        f"the state directory {state.path} is in use by another coordroomsd (pid {holder}). "
        "Stop that one, or name another directory with --state-dir"
    )


async def claim_data(state: StateDirectory) -> FileLock:
    """The lock for the next server to inherit; close it when that has begun.

    Stops a server that outlived its daemon, and waits for what a killed server left behind.

    :raises StateDirectoryInUseError: a server that no daemon started uses the data.
    :raises ServerFailedError: one does not stop.
    """
    claim = FileLock(state.server_lock)
    try:
        await _acquire(claim, state)
        _remove_pid_file(state)
    except BaseException:
        claim.close()
        raise
    return claim


def remove_claim(state: StateDirectory, seconds: float) -> None:
    """Block until the last process of a server that has just been stopped is gone.

    For whoever holds the state. The lock's file stays when there are processes left.
    """
    deadline = time.monotonic() + seconds
    with FileLock(state.server_lock) as claim:
        while not claim.acquire():
            if time.monotonic() >= deadline:
                return
            time.sleep(_LOOK_EVERY_S)
        claim.remove()


async def _acquire(claim: FileLock, state: StateDirectory) -> None:
    for number, seconds in STOP_STEPS:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                signalled = False
                while not claim.acquire():
                    # Not before it has written its process id, when it is just starting.
                    signalled = signalled or _signal_server(state, number)
                    await asyncio.sleep(_LOOK_EVERY_S)
                return
    raise ServerFailedError(
        f"a database server still uses {state.data} and does not stop (pid "
        f"{postmaster_pid(state.data) or 'unknown'}). Stop it; it may be another container's"
    )


def _signal_server(state: StateDirectory, number: signal.Signals) -> bool:
    pid = postmaster_pid(state.data)
    if pid is None or not serves(pid, state.data):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
    return True


def _remove_pid_file(state: StateDirectory) -> None:
    """PostgreSQL would refuse to start for a process that has got the dead server's number."""
    pid = postmaster_pid(state.data)
    if pid is not None and serves(pid, state.data):
        raise StateDirectoryInUseError(
            f"a PostgreSQL server that coordroomsd did not start (pid {pid}) uses {state.data}. "
            "Stop it first"
        )
    (state.data / "postmaster.pid").unlink(missing_ok=True)
