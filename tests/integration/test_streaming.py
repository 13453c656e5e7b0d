"""The log as a stream: every event once and in order, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from coordroomsd.api import streaming
from coordroomsd.api.call import Request
from coordroomsd.api.streaming import Stream
from coordroomsd.domain.errors import Refusal
from coordroomsd.live import tail as tail_module
from coordroomsd.store import history
from tests.integration.daemons import Json, Party, Running, running
from tests.polling import until

Frame = tuple[str, Json]


class Reader:
    """What a party reads of a stream, frame by frame. `before_chunk` runs before each chunk."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.heartbeats = 0
        self.before_chunk: Callable[[], Any] | None = None

    async def take(self, chunk: bytes) -> None:
        if self.before_chunk:
            await self.before_chunk()
        for block in chunk.decode().split("\n\n"):
            self.heartbeats += block.startswith(":")
            fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
            if "data" in fields:
                self.frames.append((fields.get("event", "message"), orjson.loads(fields["data"])))

    @property
    def numbers(self) -> list[int]:
        return [data["seq"] for name, data in self.frames if name == "message"]


async def stream(party: Party, last: str | None = None, **query: Any) -> Stream:
    api = party.daemon.api
    operation, parameters = api.routes.match("GET", "/rooms/plan/events")
    pairs = [(name, str(value)) for name, value in query.items()]
    request = Request(party.caller, parameters, pairs, conversation=party.name, last_event_id=last)
    call = await api.opened(operation, request)
    api.check_fields(call)
    return await Stream.begin(call)


async def streaming_now(daemon: Running, number: int = 1) -> None:
    await until(lambda: daemon.services.hub.statistics().streaming == number)


@pytest.mark.parametrize(
    ("query", "last", "begins"),
    [
        ({"after_seq": 0}, None, 1),
        ({"after_seq": 4}, None, 5),
        ({}, "3", 4),
        ({"after_seq": 0}, "4", 5),
    ],
    ids=["from the beginning", "from a number", "from the last event", "the last event wins"],
)
async def test_it_begins_where_it_is_told(
    daemon: Running, query: Json, last: str | None, begins: int
) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    await bob.say("plan", "a", "b", "c")
    reader = Reader()
    running_stream = asyncio.create_task((await stream(ada, last, **query)).run(reader.take))
    await until(lambda: reader.numbers == list(range(begins, 6)))
    await ada.say("plan", "own ones too")
    await until(lambda: reader.numbers == list(range(begins, 7)))
    daemon.services.hub.close()
    await running_stream
    assert reader.frames[-1] == ("closing", {"reason": "closing"})
    assert [event for _, event in reader.frames[:-1]] == await ada.events("plan", begins - 1)


async def test_without_a_number_it_is_live(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    reader = Reader()
    running_stream = asyncio.create_task((await stream(ada)).run(reader.take))
    await streaming_now(daemon)
    await bob.say("plan")
    await until(lambda: reader.numbers == [3])
    daemon.services.hub.close()
    await running_stream


@pytest.mark.parametrize("last", ["", "-1", "1.5", "٣", "x" * 50, str(2**63)])
async def test_a_last_event_that_is_no_number_is_refused(daemon: Running, last: str) -> None:
    [ada] = await daemon.room("plan", "ada")
    with pytest.raises(Refusal, match="invalid_arguments"):
        await stream(ada, last)


async def test_a_last_event_beyond_the_head_is_ahead(daemon: Running) -> None:
    [ada] = await daemon.room("plan", "ada")
    with pytest.raises(Refusal, match="cursor_ahead"):
        await stream(ada, "2")


async def test_nothing_is_fetched_for_a_reader_that_does_not_read(
    daemon: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_module, "MAX_EVENTS", 1)
    monkeypatch.setattr(streaming, "_PAGE", 2)
    ada, bob = await daemon.room("plan", "ada", "bob")
    await bob.say("plan", "a", "b", "c")
    asked, may_go_on = asyncio.Queue[None](), asyncio.Semaphore(0)
    fetched = 0
    events = history.events

    async def counted(*arguments: Any) -> Any:
        nonlocal fetched
        fetched += 1
        return await events(*arguments)

    async def ready() -> None:
        asked.put_nowait(None)
        await may_go_on.acquire()

    monkeypatch.setattr(history, "events", counted)
    reader = Reader()
    following = asyncio.create_task((await stream(ada, after_seq=0)).run(reader.take, ready))
    await asked.get()
    assert (fetched, reader.numbers) == (0, [])
    may_go_on.release()
    await asked.get()
    assert (fetched, reader.numbers) == (1, [1, 2])
    for _ in range(10):
        may_go_on.release()
    await until(lambda: reader.numbers == [1, 2, 3, 4, 5])
    daemon.services.hub.close()
    await following


async def test_a_reader_that_is_slow_falls_back_on_the_store(
    daemon: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More is published while it reads than the tail holds: nothing is missed, nothing doubled."""
    monkeypatch.setattr(tail_module, "MAX_EVENTS", 5)
    monkeypatch.setattr(streaming, "_PAGE", 7)
    ada, bob = await daemon.room("plan", "ada", "bob")
    reader = Reader()
    said = 0

    async def meanwhile() -> None:
        nonlocal said
        if said < 10:
            said += 1
            await bob.say("plan", *"abcdefghijklm")

    reader.before_chunk = meanwhile
    running_stream = asyncio.create_task((await stream(ada, after_seq=0)).run(reader.take))
    await until(lambda: len(reader.numbers) == 2 + 10 * 13)
    assert reader.numbers == list(range(1, 2 + 10 * 13 + 1))
    daemon.services.hub.close()
    await running_stream


async def test_what_is_streamed_was_shown(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    reader = Reader()
    running_stream = asyncio.create_task((await stream(ada, after_seq=0)).run(reader.take))
    await streaming_now(daemon)
    [seq] = await bob.say("plan")
    await until(lambda: seq in reader.numbers)
    row = (await bob.ok("GET", "/rooms/plan/members"))["members"][0]
    assert (row["last_seen_seq"], row["cursor"], row["waiting"]) == (seq, 1, False)
    daemon.services.hub.close()
    await running_stream


async def test_leaving_and_revoking_end_it_and_say_why(daemon: Running) -> None:
    ada, bob = await daemon.room("plan", "ada", "bob")
    readers = [Reader(), Reader()]
    streams = [
        asyncio.create_task((await stream(party)).run(reader.take))
        for party, reader in zip((ada, bob), readers, strict=True)
    ]
    await streaming_now(daemon, 2)
    await ada.leave("plan")
    await streams[0]
    assert readers[0].frames[-1] == ("closing", {"reason": "left"})
    daemon.services.hub.revoke(bob.caller.credential, Refusal("unauthorized", "Revoked."))
    await streams[1]
    assert readers[1].frames[-1] == ("closing", {"reason": "revoked"})
    assert daemon.services.hub.statistics() == (0, 0)


async def test_it_beats_while_nothing_happens(
    daemon: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_S", 0.01)
    [ada] = await daemon.room("plan", "ada")
    reader = Reader()
    running_stream = asyncio.create_task((await stream(ada)).run(reader.take))
    await until(lambda: reader.heartbeats > 2)
    daemon.services.hub.close()
    await running_stream


async def test_an_operator_reads_a_room_that_it_is_not_in(
    connect_arguments: dict[str, Any],
) -> None:
    async with running(connect_arguments) as daemon:
        await daemon.room("plan", "ada")
        reader = Reader()
        watching = await stream(daemon.operator, after_seq=0)
        running_stream = asyncio.create_task(watching.run(reader.take))
        await until(lambda: reader.numbers == [1])
        daemon.services.hub.close()
        await running_stream
