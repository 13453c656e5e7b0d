"""What retention takes away and what it leaves, as every kind of reader sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import orjson
import pytest

from coordroomsd import app
from coordroomsd.api.call import Request
from coordroomsd.api.streaming import Stream
from coordroomsd.domain.retention import MOST_AT_ONCE
from coordroomsd.settings import Retention
from coordroomsd.store.database import Database
from coordroomsd.store.sessions import ConnectArguments
from tests.clocks import FakeClock
from tests.integration.daemons import SOCKET, Json, Party, Running, config, no_jitter
from tests.integration.held_writers import HeldWriter
from tests.integration.stored_logs import check_stored
from tests.polling import until

HOUR = 3600


@asynccontextmanager
async def retaining(
    arguments: ConnectArguments, clock: FakeClock | None = None, **default: int
) -> AsyncIterator[Running]:
    """A daemon with a default policy."""
    database = await Database.open(arguments, owner="the test")
    try:
        its = replace(config(), retention=Retention(**default))
        async with app.running(its, database, clock=clock, jitter=no_jitter) as daemon:
            yield Running(daemon, database)
            assert not daemon.failed.done(), daemon.failed.exception()
    finally:
        await database.close()


@pytest.fixture
async def kept(connect_arguments: ConnectArguments) -> AsyncIterator[Running]:
    """A daemon that by default keeps everything."""
    async with retaining(connect_arguments) as daemon:
        yield daemon


async def first_seq(party: Party, room: str) -> int:
    found: int = (await party.ok("GET", f"/rooms/{room}"))["room"]["first_seq"]
    return found


async def begins_at(daemon: Running, room: str, number: int) -> None:
    """Return when the room does."""
    daemon.services.hasten_sweep()

    async def reached() -> bool:
        return await first_seq(daemon.operator, room) == number

    await until(reached)


async def numbers(party: Party, room: str) -> list[int]:
    return [event["seq"] for event in await party.events(room)]


async def keep(daemon: Running, room: str, **policy: int) -> Json:
    return await daemon.operator.ok("PUT", f"/rooms/{room}/retention", policy)


async def test_by_count(kept: Running) -> None:
    [ann, bob] = await kept.room("here", "ann", "bob")
    [other] = await kept.room("there", "cat")
    await ann.say("here", *"abcdef")
    await other.say("there", *"abcdef")
    answer = await keep(kept, "here", max_events=3)
    assert answer["retention"] == {"max_age_s": None, "max_events": 3}
    await begins_at(kept, "here", 6)
    assert await numbers(bob, "here") == [6, 7, 8]
    assert await numbers(other, "there") == [1, 2, 3, 4, 5, 6, 7]
    await ann.say("here", "g")
    await begins_at(kept, "here", 7)


async def test_by_age(connect_arguments: ConnectArguments) -> None:
    clock = FakeClock()
    async with retaining(connect_arguments, clock) as daemon:
        [ann] = await daemon.room("here", "ann")
        for _ in range(3):
            clock.pass_seconds(HOUR)
            await ann.say("here", "an hour later")
        await keep(daemon, "here", max_age_s=HOUR + 1)
        await begins_at(daemon, "here", 3)
        clock.pass_seconds(30 * 24 * HOUR)
        # The newest stays, however old: a log that has begun does not look empty.
        await begins_at(daemon, "here", 4)
        assert await numbers(ann, "here") == [4]
        await ann.say("here", "young")
        await begins_at(daemon, "here", 5)


async def test_the_shorter_of_age_and_count(connect_arguments: ConnectArguments) -> None:
    clock = FakeClock()
    async with retaining(connect_arguments, clock) as daemon:
        [ann] = await daemon.room("here", "ann")
        await ann.say("here", *"abc")
        clock.pass_seconds(2 * HOUR)
        await ann.say("here", *"defg")
        await keep(daemon, "here", max_age_s=HOUR, max_events=100)
        await begins_at(daemon, "here", 5)
        await keep(daemon, "here", max_age_s=HOUR, max_events=2)
        await begins_at(daemon, "here", 7)


async def test_the_default_and_a_policy_of_its_own(connect_arguments: ConnectArguments) -> None:
    async with retaining(connect_arguments, max_events=4) as daemon:
        [ann] = await daemon.room("by-default", "ann")
        [bob] = await daemon.room("more", "bob")
        [cat] = await daemon.room("less", "cat")
        await keep(daemon, "more", max_events=6)
        await keep(daemon, "less", max_events=2)
        for party, room in ((ann, "by-default"), (bob, "more"), (cat, "less")):
            await party.say(room, *"abcdefghi")
        await begins_at(daemon, "by-default", 7)
        await begins_at(daemon, "more", 5)
        await begins_at(daemon, "less", 9)
        # Without a policy of its own a room has the default again; nothing comes back.
        await keep(daemon, "less")
        await cat.say("less", *"jkl")
        await begins_at(daemon, "less", 10)


async def test_conversations_have_the_default(connect_arguments: ConnectArguments) -> None:
    async with retaining(connect_arguments, max_events=3) as daemon:
        ann, bob = daemon.party("ann"), daemon.party("bob")
        await bob.create("somewhere")
        thread = (await ann.ok("POST", "/conversations", {"with": "bob"}))["conversation"]["id"]
        path = f"/conversations/{thread}/messages"
        for number in range(8):
            note = {"kind": "note", "body": str(number)}
            await ann.ok("POST", path, note, idempotency_key=f"k{number}")
        await begins_at(daemon, thread, 6)
        gap = {"from_seq": 1, "to_seq": 5}
        page = await bob.ok("GET", path)
        assert ([one["body"] for one in page["messages"]], page["retention_gap"]) == (
            ["5", "6", "7"],
            gap,
        )
        [_, unread] = (await bob.ok("GET", "/unread"))["unread"]
        assert (unread["room"], unread["retention_gap"]) == (thread, gap)
        assert [one["body"] for one in unread["messages"]] == ["5", "6", "7"]


async def test_the_gap_as_each_reader_sees_it(kept: Running) -> None:
    [ann, bob] = await kept.room("here", "ann", "bob")
    await ann.say("here", *"abcdefgh")
    await keep(kept, "here", max_events=3)
    await begins_at(kept, "here", 8)
    left = [8, 9, 10]
    for after, gap in (
        (0, {"from_seq": 1, "to_seq": 7}),
        (4, {"from_seq": 5, "to_seq": 7}),
        (6, {"from_seq": 7, "to_seq": 7}),
        (7, None),
        (9, None),
    ):
        seen = [number for number in left if number > after]
        for kind in ("messages", "events"):
            page = await bob.ok("GET", f"/rooms/here/{kind}", after_seq=after)
            assert ([one["seq"] for one in page[kind]], page["retention_gap"]) == (seen, gap)
        look = await bob.wait("here", after, timeout_s=0)
        assert ([one["seq"] for one in look["events"]], look["retention_gap"]) == (seen, gap)
        body = {"cursors": {"here": after}, "timeout_s": 0}
        look = (await bob.ok("POST", "/wait", body))["rooms"]["here"]
        assert ([one["seq"] for one in look["events"]], look["retention_gap"]) == (seen, gap)
        assert await _streamed(kept, bob, after) == ([gap] if gap else []) + seen
    [unread] = (await kept.party("bob").ok("GET", "/unread"))["unread"]
    assert unread["retention_gap"] is None, "its waits have confirmed everything"
    [late] = [kept.party("cat")]
    await late.join("here")
    [unread] = (await late.ok("GET", "/unread"))["unread"]
    assert unread["retention_gap"] is None


async def test_unread_across_a_gap(kept: Running) -> None:
    [ann, bob] = await kept.room("here", "ann", "bob")
    await ann.say("here", *"abcdefgh")
    await keep(kept, "here", max_events=3)
    await begins_at(kept, "here", 8)
    [unread] = (await bob.ok("GET", "/unread"))["unread"]
    assert unread["retention_gap"] == {"from_seq": 3, "to_seq": 7}
    assert [one["body"] for one in unread["messages"]] == ["f", "g", "h"]
    await bob.ok("POST", "/cursor", {"cursors": {"here": unread["through_seq"]}})
    [unread] = (await bob.ok("GET", "/unread"))["unread"]
    assert (unread["messages"], unread["retention_gap"]) == ([], None)


async def test_a_gap_wakes_nobody(kept: Running) -> None:
    [ann, bob] = await kept.room("here", "ann", "bob")
    [*_, head] = await ann.say("here", *"abcdefgh")
    parked = asyncio.create_task(bob.wait("here", head, timeout_s=300))
    members = "/rooms/here/members"

    async def is_parked() -> bool:
        return any(one["waiting"] for one in (await ann.ok("GET", members))["members"])

    await until(is_parked)
    await keep(kept, "here", max_events=1)
    await begins_at(kept, "here", head)
    assert not parked.done()
    await ann.say("here", "now")
    assert [one["seq"] for one in (await parked)["events"]] == [head + 1]


async def test_what_is_gone_is_gone_for_every_call(kept: Running) -> None:
    [ann, bob] = await kept.room("here", "ann", "bob")
    [decision] = await ann.say("here", "needle")
    await ann.say("here", *"abcdefgh")
    path = f"/rooms/here/messages/{decision}"
    await bob.ok("PUT", f"{path}/reactions/agree")
    await keep(kept, "here", max_events=2)
    head = (await ann.ok("GET", "/rooms/here"))["room"]["latest_seq"]
    await begins_at(kept, "here", head - 1)
    for call in (
        ("GET", path),
        ("GET", f"{path}/receipts"),
        ("GET", f"{path}/reactions"),
        ("PUT", f"{path}/reactions/like"),
    ):
        await bob.refused("message_not_found", *call)
    assert (await bob.ok("GET", "/search", q="needle"))["results"] == []
    await bob.refused("message_not_found", "GET", "/rooms/here/wait", wake_on=f"answer:{decision}")


async def test_open_questions_and_held_claims_keep_their_messages(kept: Running) -> None:
    [ann, bob] = await kept.room("here", "ann", "bob")
    [asked] = await ann.say("here", "who takes it?", kind="question")
    [proposed] = await ann.say("here", "the plan")
    [unclaimed] = await ann.say("here", "another plan")
    await bob.claim("here", "the draft", proposed_by_seq=proposed)
    await ann.say("here", *"abcdef")
    await keep(kept, "here", max_events=2)
    head = (await ann.ok("GET", "/rooms/here"))["room"]["latest_seq"]
    await begins_at(kept, "here", head - 1)
    assert await numbers(bob, "here") == [asked, proposed, head - 1, head]
    await bob.refused("message_not_found", "GET", f"/rooms/here/messages/{unclaimed}")

    answer = {"kind": "answer", "reply_to": asked, "body": "I do"}
    await bob.ok("POST", "/rooms/here/messages", {"messages": [answer]})
    await bob.ok("DELETE", "/rooms/here/claims", key="the draft")
    await begins_at(kept, "here", head + 1)

    async def are_gone() -> bool:
        kept.services.hasten_sweep()
        return await numbers(bob, "here") == [head + 1, head + 2]

    await until(are_gone)
    shown = (await bob.ok("GET", f"/rooms/here/messages/{head + 1}"))["message"]
    assert shown["reply_target"] == {"id": asked, "removed": True}


async def test_who_reads_before_a_removal_is_published_sees_the_gap(kept: Running) -> None:
    [ann] = await kept.room("here", "ann")
    for _ in range(6):
        await ann.say("here", *["x"] * 100)
    writer = HeldWriter(kept.database)
    writer.hold()
    policy = asyncio.create_task(keep(kept, "here", max_events=3))
    await writer.committed()
    writer.release()
    writer.hold()
    await writer.committed()
    assert "removals_" in writer.statements[-1]
    for path in ("messages", "events"):
        page = await ann.ok("GET", f"/rooms/here/{path}", limit=1)
        assert page["retention_gap"] == {"from_seq": 1, "to_seq": MOST_AT_ONCE}
        assert page[path][0]["seq"] == MOST_AT_ONCE + 1
    writer.release()
    await policy


async def test_a_stream_that_is_overtaken_tells_of_the_gap(kept: Running) -> None:
    [ann] = await kept.room("here", "ann")
    for _ in range(6):
        await ann.say("here", *["x"] * 100)
    begun, goes_on = asyncio.Event(), asyncio.Event()
    found: list[Any] = []

    async def emit(chunk: bytes) -> None:
        found.extend(_told(chunk))
        if found == list(range(1, 201)):
            begun.set()
            await goes_on.wait()

    stream = asyncio.create_task((await _stream(kept, ann, 0)).run(emit))
    await begun.wait()
    await keep(kept, "here", max_events=3)
    await begins_at(kept, "here", 599)
    goes_on.set()
    await until(lambda: found[-1] == 601)
    assert found[200:] == [{"from_seq": 201, "to_seq": 598}, 599, 600, 601]
    stream.cancel()
    await asyncio.wait([stream])


async def test_posts_go_between_removals(kept: Running) -> None:
    [ann] = await kept.room("here", "ann")
    for _ in range(40):
        await ann.say("here", *["x"] * 100)
    await keep(kept, "here", max_events=1)
    passed = []
    while (began := await first_seq(ann, "here")) < 4000:
        await ann.say("here", "meanwhile")
        passed.append(await first_seq(ann, "here") - began)
    # One removal may be under way, and one may be in the same batch as the post.
    assert len(passed) > 1
    assert max(passed) <= 3 * MOST_AT_ONCE


async def test_a_restart_in_the_middle(connect_arguments: ConnectArguments) -> None:
    async with retaining(connect_arguments) as daemon:
        [ann] = await daemon.room("here", "ann")
        for _ in range(20):
            await ann.say("here", *["x"] * 100)
        await keep(daemon, "here", max_events=1)

        async def has_begun() -> bool:
            return await first_seq(ann, "here") > 1

        await until(has_begun)
        reached = await first_seq(ann, "here")
        assert reached < 2001
    async with retaining(connect_arguments) as daemon:
        ann = daemon.party("ann")
        page = await ann.ok("GET", "/rooms/here/events", limit=1)
        gap = page["retention_gap"]
        # The next removal may be under way; it is told of before it happens.
        assert gap["to_seq"] >= page["events"][0]["seq"] - 1 >= reached - 1
        await begins_at(daemon, "here", 2001)
        assert await numbers(ann, "here") == [2001]
        await check_stored(daemon.database.reads)


async def _streamed(daemon: Running, party: Party, after: int) -> list[Any]:
    """What a stream gives first: the gap, if any, and the numbers up to the head."""
    stream = await _stream(daemon, party, after)
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    running = asyncio.create_task(stream.run(chunks.put))
    head = (await party.ok("GET", "/rooms/here"))["room"]["latest_seq"]
    found: list[Any] = []
    try:
        while found[-1:] != [head]:
            found += _told(await chunks.get())
    finally:
        running.cancel()
        await asyncio.wait([running])
    return found


async def _stream(daemon: Running, party: Party, after: int) -> Stream:
    api = daemon.daemon.api
    operation, parameters = api.routes.match("GET", "/rooms/here/events")
    request = Request(SOCKET, parameters, [("after_seq", str(after))], None, party.name)
    call = await api.opened(operation, request)
    api.check_fields(call)
    return await Stream.begin(call)


def _told(chunk: bytes) -> Iterator[Any]:
    """Of a chunk of a stream: events by their numbers, and gaps."""
    for text in chunk.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
        if "data" in fields:
            data = orjson.loads(fields["data"])
            yield data if "event" in fields else data["seq"]
