"""Databases as the daemon of each earlier schema left them, opened by this one."""

from __future__ import annotations

from typing import Any

import pytest

from coordroomsd.store.database import Database
from coordroomsd.store.errors import DatabaseNewerError, DatabaseOwnedError
from coordroomsd.store.migrate import shipped
from coordroomsd.store.ownership import LOCK_KEY
from tests.integration.daemons import bodies, running
from tests.integration.scenes import BETWEEN_TWO, BODIES, FOLDER
from tests.integration.stored_logs import check_stored
from tests.polling import until
from tests.postgres_servers import connect, execute

# By the number of its newest migration.
EARLIER = {int(path.stem): path.read_text() for path in sorted(FOLDER.glob("*.sql"))}
# What was held then has run out, whenever this is run.
LATER = """
UPDATE public.statuses SET expires_at = clock_timestamp();
UPDATE public.claims SET expires_at = clock_timestamp();
"""
each_earlier = pytest.mark.parametrize("version", EARLIER)


def test_there_is_one_of_each() -> None:
    """`scenes.py` makes one; that of the newest may come with the next migration."""
    missing = {migration.version for migration in shipped()} - EARLIER.keys()
    assert missing <= {shipped()[-1].version}


@each_earlier
async def test_what_it_has_stored_is_whole(private_address: dict[str, Any], version: int) -> None:
    await execute(private_address, EARLIER[version])
    database = await Database.open(private_address, owner="the test")
    try:
        names = [migration.name for migration in shipped()]
        assert database.applied == names[version:]
        await check_stored(database.reads)
    finally:
        await database.close()


@each_earlier
async def test_it_is_read_and_written_on(private_address: dict[str, Any], version: int) -> None:
    await execute(private_address, EARLIER[version] + LATER)
    async with running(private_address) as daemon:
        ann, bob = daemon.party("ann"), daemon.party("bob")
        assert bodies(await bob.events("plan")) == list(BODIES)
        room = await ann.ok("GET", "/rooms/plan")
        states = {member["conversation_id"]: member["state"] for member in room["members"]}
        assert states == {"ann": "active", "bob": "active", "cat": "inactive"}
        [question, answer, *_] = (await bob.ok("GET", "/rooms/plan/messages"))["messages"]
        assert answer["reply_to"] == question["seq"]
        reactions = await ann.ok("GET", f"/rooms/plan/messages/{question['seq']}/reactions")
        assert [r["reaction"] for r in reactions["reactions"]] == ["agree"]
        await until(lambda: has_run_out(ann))
        for word, body in (("broker", BODIES[0]), ("漢字", BODIES[2]), ("c_d", BODIES[3])):
            hits = (await ann.ok("GET", "/search", q=word))["results"]
            assert body in [hit["message"]["body"] for hit in hits], word
        if threads := (await ann.ok("GET", "/conversations"))["conversations"]:
            path = f"/conversations/{threads[0]['id']}/messages"
            assert [m["body"] for m in (await bob.ok("GET", path))["messages"]] == [BETWEEN_TWO]
        before = (await ann.ok("GET", "/rooms/plan"))["room"]["latest_seq"]
        assert await ann.say("plan", "the daemon is new") == [before + 1]


async def has_run_out(party: Any) -> bool:
    ends = {event["type"] for event in await party.events("plan") if event["reason"] == "expired"}
    return ends == {"status", "claim"}


async def test_a_daemon_that_another_one_keeps_out_migrates_nothing(
    private_address: dict[str, Any],
) -> None:
    await execute(private_address, EARLIER[1])
    owner = await connect(private_address)
    try:
        await owner.fetchval("SELECT pg_advisory_lock($1)", LOCK_KEY)
        with pytest.raises(DatabaseOwnedError):
            await Database.open(private_address, owner="the test")
        assert await owner.fetchval("SELECT max(version) FROM migrations") == 1
    finally:
        await owner.close()


async def test_a_database_of_a_newer_daemon_is_refused_and_left_as_it_is(
    private_address: dict[str, Any],
) -> None:
    database = await Database.open(private_address, owner="the test")
    await database.close()
    connection = await connect(private_address)
    try:
        await connection.execute(
            "INSERT INTO migrations (version, name, checksum) VALUES (9000, '9000_later.sql', '')"
        )
        before = await connection.fetchval("SELECT generation FROM journal")
        with pytest.raises(DatabaseNewerError, match=r"9000_later\.sql.*a newer one has used it"):
            await Database.open(private_address, owner="the test")
        assert await connection.fetchval("SELECT generation FROM journal") == before
    finally:
        await connection.close()
