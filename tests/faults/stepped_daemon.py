"""`coordroomsd` whose PostgreSQL has the clock that libfaketime gives it. Run in its place with

    FAKETIME_LIBRARY=… FAKETIME_…=… python -m tests.faults.stepped_daemon serve …

The daemon cannot have it: CPython's own pauses fail under libfaketime 0.9.10. Nor can what starts
the server, as root: the library's semaphore would be root's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from coordroomsd.cli import main
from coordroomsd.store import private_postgres
from coordroomsd.store.server_processes import Child


class SteppedChild(Child):
    def __init__(self, command: Sequence[str], **how: Any) -> None:
        settings = [f"{k}={v}" for k, v in os.environ.items() if k.startswith("FAKETIME_")]
        preload = f"LD_PRELOAD={os.environ['FAKETIME_LIBRARY']}"
        super().__init__(["/usr/bin/env", preload, *settings, *command], **how)


if __name__ == "__main__":
    vars(private_postgres)["Child"] = SteppedChild
    sys.exit(main())
