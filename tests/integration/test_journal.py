"""The one writer on a real database: what it takes together, and what Postgres refuses."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable
from typing import Any

import asyncpg
import pytest

from coordroomsd.domain.commands import Draft as MessageDraft
from coordroomsd.domain.messages import Post
from coordroomsd.domain.participants import Actor
from coordroomsd.journal import journal as journal_module
from coordroomsd.journal.submissions import Answer
from coordroomsd.settings import Limits
from tests.integration.daemons import Running, bodies, message, running
from tests.integration.full_disks import fill_up, make_room
from tests.integration.held_writers import HeldWriter
from tests.polling import until

POISON = "nobody else is to read this, and Postgres cannot: \0"


def post(daemon: Running, room_id: int, who: str, body: str) -> Awaitable[Answer]:
    """Straight to the journal: the calls before it let no text through that Postgres refuses."""
    command = Post(
        Actor("default", who, "agent", "agent"), room_id, (MessageDraft("decision", body),)
    )
    return daemon.services.journal.execute(command, lambda *_: Answer(201, body.encode()))


async def room_number(daemon: Running, room: str) -> int:
    found = await daemon.services.rooms.of_slug("default", room)
    assert found
    return found.state.id


async def test_what_is_queued_together_is_stored_together(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    writer = HeldWriter(daemon.database)
    await asyncio.gather(*(ada.say("plan", f"{number}") for number in range(100)))
    assert len(writer.statements) == 1
    assert bodies(await ada.events("plan")) == [f"{number}" for number in range(100)]


async def test_large_messages_do_not_make_those_behind_them_wait_for_all(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    writer = HeldWriter(daemon.database)
    writer.hold()
    first = asyncio.create_task(ada.say("plan", "first"))
    await writer.committed()
    large = 16 * ["x" * 65_536]
    later = [asyncio.create_task(ada.say("plan", *large)) for _ in range(12)]
    await until(lambda: len(daemon.services.journal) == 12)
    writer.release()
    await asyncio.gather(first, *later)
    assert len(writer.statements) == 1 + 3


async def test_while_one_is_committed_the_next_gathers(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    writer = HeldWriter(daemon.database)
    writer.hold()
    first = asyncio.create_task(ada.say("plan", "first"))
    await writer.committed()
    later = [asyncio.create_task(ada.say("plan", f"{number}")) for number in range(20)]
    await until(lambda: len(daemon.services.journal) == 20)
    writer.release()
    await asyncio.gather(first, *later)
    assert len(writer.statements) == 2


async def test_nobody_hears_of_what_is_not_published(daemon: Running) -> None:
    """Committed and not yet published: no page, wait or list shows it."""
    ada, bob = await daemon.room("plan", "ada", "bob")
    writer = HeldWriter(daemon.database)
    writer.hold()
    posting = asyncio.create_task(ada.say("plan", "early"))
    await writer.committed()
    assert len(await bob.events("plan")) == 2
    page = await bob.ok("GET", "/rooms/plan/messages")
    assert (page["messages"], page["latest_seq"], page["has_more"]) == ([], 2, False)
    waited = await bob.wait("plan", 0, timeout_s=0)
    assert (waited["reason"], waited["latest_seq"]) == ("timeout", 2)
    unread = await bob.ok("GET", "/unread")
    assert unread["unread"][0]["through_seq"] == 2
    await bob.refused("message_not_found", "GET", "/rooms/plan/messages/3")
    writer.release()
    await posting
    assert bodies(await bob.events("plan")) == ["early"]


async def test_a_poisoned_member_fails_alone(
    daemon: Running, caplog: pytest.LogCaptureFixture
) -> None:
    [ada] = await daemon.room("plan", "ada")
    room_id = await room_number(daemon, "plan")
    sent = [f"{number}" for number in range(50)]
    sent[17] = POISON
    answers = await asyncio.gather(
        *(post(daemon, room_id, "ada", body) for body in sent), return_exceptions=True
    )
    assert isinstance(answers.pop(17), asyncpg.PostgresError)
    stored = [body for body in sent if body != POISON]
    assert answers == [Answer(201, body.encode()) for body in stored]
    assert bodies(await ada.events("plan")) == stored
    assert "the database refused Post" in caplog.text
    assert POISON not in caplog.text


async def test_cursors_confirmed_beside_a_poisoned_call_are_stored(daemon: Running) -> None:
    """They are told to be stored, so they must be, whatever became of the others."""
    ada, bob = await daemon.room("plan", "ada", "bob")
    await ada.say("plan")
    room_id = await room_number(daemon, "plan")
    for poison in ([POISON], [POISON, "good"]):
        seq = (await ada.say("plan"))[0]
        *_, confirmed = await asyncio.gather(
            *(post(daemon, room_id, "ada", body) for body in poison),
            bob.ok("POST", "/cursor", {"cursors": {"plan": seq}}),
            return_exceptions=True,
        )
        assert confirmed == {"cursors": {"plan": seq}}
        assert await daemon.database.reads.fetchval("SELECT max(cursor) FROM memberships") == seq


async def test_a_rule_that_fails_is_one_call_s_internal_error(daemon: Running) -> None:
    ada, _ = await daemon.room("plan", "ada", "bob")
    room_id = await room_number(daemon, "plan")

    def fail(*_: object) -> Answer:
        raise ZeroDivisionError

    command = Post(Actor("default", "bob", "agent", "agent"), room_id, ())
    broken = daemon.services.journal.execute(command, fail)
    outcome, seqs = await asyncio.gather(broken, ada.say("plan"), return_exceptions=True)
    assert isinstance(outcome, ZeroDivisionError)
    assert seqs == [3]


async def test_who_went_away_before_his_turn_has_sent_nothing(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    writer = HeldWriter(daemon.database)
    writer.hold()
    first = asyncio.create_task(ada.say("plan", "first"))
    await writer.committed()
    gone = asyncio.create_task(ada.say("plan", "gone"))
    stays = asyncio.create_task(ada.say("plan", "stays"))
    await until(lambda: len(daemon.services.journal) == 2)
    gone.cancel()
    await asyncio.wait([gone])
    writer.release()
    await asyncio.gather(first, stays)
    assert bodies(await ada.events("plan")) == ["first", "stays"]


async def test_a_caller_that_does_not_look_keeps_nobody_waiting(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    room_id = await room_number(daemon, "plan")
    stalled = post(daemon, room_id, "ada", "stalled").__await__()
    next(stalled)
    for number in range(20):
        await ada.say("plan", f"{number}")
    with pytest.raises(StopIteration) as answer:
        stalled.send(None)
    assert answer.value.value == Answer(201, b"stalled")
    assert len(bodies(await ada.events("plan"))) == 21


"""Postgres answers, and cannot store: nothing is, and nothing has to be begun anew."""


async def test_a_full_disk_is_told_and_heals(
    daemon: Running, connect_arguments: dict[str, Any]
) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    await fill_up(connect_arguments)
    answers = await asyncio.gather(
        *(ada.call("POST", "/rooms/plan/messages", message("x")) for _ in range(5)),
        bob.call("POST", "/cursor", {"cursors": {"plan": 2}}),
    )
    for reply in answers:
        assert (reply.status, reply.body["code"]) == (503, "store_unavailable")
        assert reply.body["retry_after_s"] == 1
    assert len(await bob.events("plan")) == 2
    await make_room(connect_arguments)
    assert await ada.say("plan") == [3]
    await bob.ok("POST", "/cursor", {"cursors": {"plan": 3}})


async def test_what_a_full_disk_refused_costs_nothing(connect_arguments: dict[str, Any]) -> None:
    limits = Limits(message_burst=3, message_per_s=0.001)
    async with running(connect_arguments, limits=limits) as daemon:
        [ada] = await daemon.room("plan", "ada")
        await fill_up(connect_arguments)
        for _ in range(5):
            await ada.refused("store_unavailable", "POST", "/rooms/plan/messages", message("x"))
        await make_room(connect_arguments)
        await ada.say("plan", "1", "2", "3")
        await ada.refused("rate_limited", "POST", "/rooms/plan/messages", message("x"))


async def test_bodies_have_a_bucket_of_bytes(connect_arguments: dict[str, Any]) -> None:
    limits = Limits(message_burst=3, message_per_s=0.001, body_kib_burst=4, body_kib_per_s=0.001)
    async with running(connect_arguments, limits=limits) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        await ada.say("plan", "x" * 4096)
        refused = await ada.refused("rate_limited", "POST", "/rooms/plan/messages", message("x"))
        assert refused["retry_after_s"] == 1
        assert "bytes in messages" in refused["detail"]
        await bob.say("plan", "é" * 1024)
        # A refusal by one bucket takes nothing from the other.
        too_long = message("x" * 2049)
        refused = await bob.refused("rate_limited", "POST", "/rooms/plan/messages", too_long)
        assert refused["retry_after_s"] == 1
        await bob.say("plan", "x" * 1000, "y" * 1000)
        refused = await bob.refused("rate_limited", "POST", "/rooms/plan/messages", message("x"))
        assert "message calls" in refused["detail"]


async def test_cancelled_reads_leave_the_pool_as_it_was(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    await ada.say("plan", *["x" * 1000] * 50)
    pool = daemon.database.reads.pool
    await asyncio.gather(*(bob.events("plan") for _ in range(50)))
    idle, size = pool.get_idle_size(), pool.get_size()
    assert idle == size
    chance = random.Random(1)
    for _ in range(100):
        reading = [asyncio.create_task(bob.events("plan")) for _ in range(10)]
        for _ in range(chance.randrange(12)):
            await asyncio.sleep(0)
        for task in reading:
            task.cancel()
        outcomes = await asyncio.gather(*reading, return_exceptions=True)
        assert all(isinstance(o, (list, asyncio.CancelledError)) for o in outcomes)
    await until(lambda: pool.get_idle_size() == pool.get_size())
    assert pool.get_size() == size
    assert len(await bob.events("plan")) == 52


async def test_too_many_queued_calls_are_refused_at_once(
    daemon: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "MAX_QUEUED", 5)
    [ada] = await daemon.room("plan", "ada")
    writer = HeldWriter(daemon.database)
    writer.hold()
    first = asyncio.create_task(ada.say("plan"))
    await writer.committed()
    queued = [asyncio.create_task(ada.say("plan")) for _ in range(5)]
    await until(lambda: len(daemon.services.journal) == 5)
    await ada.refused("store_unavailable", "POST", "/rooms/plan/messages", message("x"))
    writer.release()
    await asyncio.gather(first, *queued)


async def test_what_is_queued_when_the_daemon_stops_is_stored(
    connect_arguments: dict[str, Any],
) -> None:
    async with running(connect_arguments) as daemon:
        [ada] = await daemon.room("plan", "ada")
        posting = [asyncio.create_task(ada.say("plan", f"{number}")) for number in range(600)]
        await asyncio.sleep(0)
    assert sorted(seq for task in posting for seq in task.result()) == list(range(2, 602))


async def test_a_write_by_somebody_else_is_noticed_and_refused(daemon: Running) -> None:
    """The head in the table is not the one in memory: the statement fails as a whole."""
    [ada] = await daemon.room("plan", "ada")
    await daemon.database.writer.execute("UPDATE rooms SET latest_seq = 7")
    await ada.refused("internal_error", "POST", "/rooms/plan/messages", message("x"))
    await daemon.database.writer.execute("UPDATE rooms SET latest_seq = 1")
    assert await ada.say("plan") == [2]


async def test_a_newcomer_s_first_batch_counts_what_came_before_it(daemon: Running) -> None:
    """It is no member yet when the batch gathers, and the tail does not reach back so far."""
    [ada] = await daemon.room("plan", "ada")
    for _ in range(26):
        await ada.say("plan", *(20 * ["x"]))
    bob = daemon.party("bob")
    writer = HeldWriter(daemon.database)
    writer.hold()
    first = asyncio.create_task(ada.say("plan", "first"))
    await writer.committed()
    joins = asyncio.create_task(bob.join("plan"))
    await until(lambda: len(daemon.services.journal) == 1)
    hello = message("hello") | {"after_seq": 0}
    posts = asyncio.create_task(bob.ok("POST", "/rooms/plan/messages", hello))
    await until(lambda: len(daemon.services.journal) == 2)
    writer.release()
    await asyncio.gather(first, joins)
    assert (await posts)["unseen_before_send"] == 26 * 20 + 1
    assert len(writer.statements) == 2
