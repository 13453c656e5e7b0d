"""How the private server is set: for one daemon, a handful of sessions, and durable commits."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PORT: Final = 5432  # No port is opened: it is part of the socket's name.

_SETTINGS: Final = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "cluster_name": "coordrooms",
    "TimeZone": "UTC",
    # One writer, a few readers, and room for a person with psql.
    "max_connections": "20",
    "shared_buffers": "32MB",
    "dynamic_shared_memory_type": "posix",
    # What was acknowledged is on the disk.
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # Nobody replicates from here; back up with pg_dump.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "min_wal_size": "32MB",
    "max_wal_size": "256MB",
    "checkpoint_timeout": "15min",
    "log_checkpoints": "off",
    "logging_collector": "off",
    # Helper processes that our short statements never use.
    "jit": "off",
    "max_worker_processes": "2",
    "max_parallel_workers": "0",
    "max_logical_replication_workers": "0",
    "autovacuum_max_workers": "1",
}
# Asynchronous reads are done by more processes, and the data mostly lies in memory.
_SETTINGS_18: Final = {"io_method": "sync"}

_INITDB: Final = (
    "--auth=trust",  # The socket's directory is the guard.
    "--encoding=UTF8",
    "--locale=C",
    "--data-checksums",
    "--no-instructions",
)
# Case and order of letters as Unicode has them, the same on every machine.
_INITDB_17: Final = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8")


def postgres_arguments(major: int, data: Path, sockets: Path) -> list[str]:
    settings = _SETTINGS | (_SETTINGS_18 if major >= 18 else {})
    # The setting is a list: quoted, a comma or a quote in the path stays part of it.
    quoted = str(sockets).replace('"', '""')
    settings = settings | {"unix_socket_directories": f'"{quoted}"'}
    return ["-D", str(data), *(f"--{name}={value}" for name, value in settings.items())]


def initdb_arguments(major: int, data: Path, user: str) -> list[str]:
    locale = _INITDB_17 if major >= 17 else ()
    return ["-D", str(data), "-U", user, *_INITDB, *locale]
