"""PgBouncer between the daemon and its database is found out, however it is set."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

import pytest

from coordroomsd.store import sessions
from coordroomsd.store.database import Database
from coordroomsd.store.errors import DatabaseUnsuitableError
from coordroomsd.store.server_users import server_user
from tests.polling import until
from tests.postgres_servers import PASSWORD, ConfiguredServer, can_connect, free_port

IGNORE_ALL: Final = ",".join({**sessions.WRITE_SETTINGS, **sessions.READ_SETTINGS})

Start = Callable[[str, str], str]


@pytest.fixture
async def pooled(
    configured_server: ConfiguredServer, configured_address: str, state_dir: Path
) -> AsyncIterator[Start]:
    """Starts a pooler in the mode given, ignoring the settings given; returns its URL."""
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")
    if program is None:
        pytest.skip("needs PgBouncer (apt-get install pgbouncer)")
    running: list[subprocess.Popen[bytes]] = []

    def start(mode: str, ignored: str) -> str:
        port = free_port()
        (state_dir / "users").write_text(f'"keeper" "{PASSWORD}"\n')
        (state_dir / "pgbouncer.ini").write_text(
            f"""
            [databases]
            * = host=127.0.0.1 port={configured_server.port}
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = {port}
            unix_socket_dir =
            auth_type = trust
            auth_file = {state_dir}/users
            pool_mode = {mode}
            ignore_startup_parameters = {ignored}
            """
        )
        running.append(
            subprocess.Popen(
                [program, "-q", state_dir / "pgbouncer.ini"],
                cwd="/",
                **server_user(None).popen_arguments(),
            )
        )
        return configured_address.replace(str(configured_server.port), str(port))

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("mode", "ignored", "reason"),
    [
        ("transaction", IGNORE_ALL, "in transaction mode"),
        ("session", IGNORE_ALL, "drops session settings"),
        ("session", "", "does not take the session settings"),
    ],
)
async def test_pooler_is_refused(pooled: Start, mode: str, ignored: str, reason: str) -> None:
    url = pooled(mode, ignored)
    await until(lambda: can_connect(url))
    with pytest.raises(DatabaseUnsuitableError, match=reason):
        await Database.open(url, owner="us")
