"""A daemon that only keeps a private server, to be killed.

`postgres_keeper.py STATE_DIR [LAUNCHER]` prints `ready PID` or the refusal. A LAUNCHER takes the
place of the program that ties the server to its daemon.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from coordroomsd.store import server_processes
from coordroomsd.store.errors import StoreError
from coordroomsd.store.private_postgres import PrivatePostgres


async def main(state_dir: Path) -> int:
    told_to_stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told_to_stop.set)
    server = PrivatePostgres(state_dir)
    try:
        await server.start()
    except StoreError as error:
        print(error, flush=True)
        return 1
    print("ready", server.pid, flush=True)
    await told_to_stop.wait()
    await server.stop()
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 2:
        server_processes.LAUNCHER = Path(sys.argv[2])  # type: ignore[misc]
    sys.exit(asyncio.run(main(Path(sys.argv[1]))))
