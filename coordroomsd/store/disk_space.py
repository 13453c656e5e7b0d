"""Space on the disk of a server of our own, which must not run out of it.

A PostgreSQL that cannot make the next segment of its write-ahead log ends, with every session, and
does not start again before there is space. So writes are refused a little earlier: reading goes on,
and so does writing as soon as there is space.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from coordroomsd.store.errors import NoSpaceError

# Two segments of 16 MiB that a large batch and a checkpoint may ask for, and as much again.
RESERVED_BYTES: Final = 64 * 1024 * 1024


def free_bytes(data: Path) -> int:
    """What is left where the data lies."""
    status = os.statvfs(data)
    return status.f_bavail * status.f_frsize


def check_space(data: Path) -> None:
    """:raises NoSpaceError: less than `RESERVED_BYTES` are free where the data lies."""
    free = free_bytes(data)
    if free < RESERVED_BYTES:
        raise NoSpaceError(
            f"only {free // 2**20} MiB are free on the disk of the database, and "
            f"{RESERVED_BYTES // 2**20} are kept for itself"
        )
