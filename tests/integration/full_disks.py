"""A database that answers and cannot store, as one whose disk is full."""

from __future__ import annotations

from coordroomsd.store.sessions import ConnectArguments
from tests.postgres_servers import execute


async def fill_up(database: ConnectArguments) -> None:
    """From now on every event and every position is refused, with the code for a full disk."""
    await execute(
        database,
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON memberships
        FOR EACH ROW EXECUTE FUNCTION refuse();
        CREATE TRIGGER full_disk BEFORE INSERT ON events
        FOR EACH ROW EXECUTE FUNCTION refuse();
        """,
    )


async def make_room(database: ConnectArguments) -> None:
    await execute(
        database, "DROP TRIGGER full_disk ON events; DROP TRIGGER full_disk ON memberships"
    )
