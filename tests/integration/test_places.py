"""A database that has come to another place begins a new generation; one that stayed does not."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from coordroomsd.store.database import Database
from coordroomsd.store.private_postgres import PrivatePostgres
from coordroomsd.store.sessions import ConnectArguments
from tests.postgres_servers import (
    ConfiguredServer,
    debian_binaries,
    execute,
    make_state_dir,
)

# As `pg_restore --clean` leaves it.
LOAD_ANEW = """
    ALTER TABLE journal RENAME TO before;
    CREATE TABLE journal (LIKE before INCLUDING ALL);
    INSERT INTO journal SELECT * FROM before;
    DROP TABLE before;
"""


async def generation(address: ConnectArguments) -> str:
    """After one daemon has opened and closed it."""
    database = await Database.open(address, owner="us")
    await database.close()
    return database.generation


async def test_opening_it_again_begins_none(
    address: ConnectArguments, caplog: pytest.LogCaptureFixture
) -> None:
    assert await generation(address) == await generation(address) == await generation(address)
    assert not caplog.records


async def test_a_dump_loaded_into_it_begins_one(
    address: ConnectArguments, caplog: pytest.LogCaptureFixture
) -> None:
    before = await generation(address)
    await execute(address, LOAD_ANEW)
    after = await generation(address)
    assert after != before
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert after in caplog.text
    assert await generation(address) == after


async def test_a_copy_in_its_place_begins_one(
    configured_server: ConfiguredServer, configured_address: str
) -> None:
    before = await generation(configured_address)
    name = configured_address.rpartition("/")[2]
    keeper = configured_server.url("postgres")
    await execute(keeper, f"CREATE DATABASE {name}_copy TEMPLATE {name}")
    await execute(keeper, f"DROP DATABASE {name}")
    await execute(keeper, f"ALTER DATABASE {name}_copy RENAME TO {name}")
    assert await generation(configured_address) != before


async def test_a_promoted_standby_begins_one(
    configured_server: ConfiguredServer, configured_address: str
) -> None:
    before = await generation(configured_address)
    standby = ConfiguredServer(debian_binaries()[0])
    try:
        await standby.start_standby_of(configured_server)
        await execute(standby.url("postgres"), "SELECT pg_promote()")
        promoted = standby.url(configured_address.rpartition("/")[2])
        after = await generation(promoted)
        assert after != before
        # What the recovery of a crash leads to is what was there.
        await standby.crash()
        await standby.start_again()
        assert await generation(promoted) == after
    finally:
        await standby.stop()


async def test_a_private_server_that_moves_with_its_directory_begins_none(state_dir: Path) -> None:
    server = PrivatePostgres(state_dir)
    await server.start()
    before = await generation(server.connect_arguments())
    await server.stop()
    moved = make_state_dir()
    try:
        shutil.move(state_dir / "data", moved / "data")
        server = PrivatePostgres(moved)
        await server.start()
        assert await generation(server.connect_arguments()) == before
        await server.stop()
    finally:
        shutil.rmtree(moved)


async def test_what_a_hosted_server_does_not_tell_is_done_without(configured_address: str) -> None:
    """It still tells when its standby was promoted, or a dump was loaded."""
    await execute(
        configured_address,
        """
        REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC;
        CREATE ROLE plain LOGIN PASSWORD 'plain';
        DO $$ BEGIN
          EXECUTE format('ALTER DATABASE %I OWNER TO plain', current_database());
        END $$
        """,
    )
    address = re.sub("//[^@]*@", "//plain:plain@", configured_address)
    try:
        before = await generation(address)
        assert await generation(address) == before
        await execute(address, LOAD_ANEW)
        after = await generation(address)
        assert after != before
        await execute(configured_address, "UPDATE journal SET place = '-/00000002/1/1'")
        assert await generation(address) != after
    finally:
        await execute(
            configured_address,
            """
            GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC;
            REASSIGN OWNED BY plain TO keeper;
            DROP ROLE plain;
            """,
        )
