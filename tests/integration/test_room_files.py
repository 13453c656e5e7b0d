"""One room into a file and out of it: the same room, or a line is named and nothing changed."""

from __future__ import annotations

import gzip
import io
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from coordroomsd.api.callers import Caller
from coordroomsd.archives import imports
from coordroomsd.archives.errors import ArchiveError, NotEmptyError
from coordroomsd.archives.room_readers import RoomReader
from coordroomsd.store.migrate import migrate
from coordroomsd.store.private_postgres import PrivatePostgres
from tests.clocks import FakeClock
from tests.conftest import TEMPLATE
from tests.integration.archived import backed_up, contents, session
from tests.integration.daemons import Party, running
from tests.integration.room_files import (
    Json,
    exported,
    imported,
    live,
    parsed,
    without_what_must_differ,
    written,
)
from tests.postgres_servers import execute


@pytest.fixture(scope="module")
async def file(server: PrivatePostgres) -> AsyncIterator[bytes]:
    """Of a small room with something of everything."""
    keeper = server.connect_arguments("postgres")
    await execute(keeper, f"CREATE DATABASE exported TEMPLATE {TEMPLATE}")
    address = server.connect_arguments("exported")
    async with running(address, clock=FakeClock()) as daemon:
        ann, bob, cy = await daemon.room("plan", "ann", "bob", "cy")
        [asked] = await ann.say("plan", "why?", kind="question")
        answer = {"kind": "answer", "body": "so", "reply_to": asked}
        await bob.ok("POST", "/rooms/plan/messages", {"messages": [answer]})
        await bob.ok("PUT", f"/rooms/plan/messages/{asked}/reactions/ack")
        await ann.set_status("plan", "reading", 600)
        await bob.claim("plan", "the draft", 3600)
        await cy.leave("plan")
    yield await exported(address)
    await execute(keeper, "DROP DATABASE exported WITH (FORCE)")


@pytest.fixture
def target(connect_arguments: dict[str, Any]) -> dict[str, Any]:
    """A database in which there is nothing."""
    return connect_arguments


@pytest.mark.parametrize("seed", range(6))
async def test_a_room_comes_back_as_it_was(
    seed: int, connect_arguments: dict[str, Any], private_address: dict[str, Any]
) -> None:
    """Whatever has happened in it; every second one has lost its beginning to retention."""
    clock = FakeClock()
    async with running(connect_arguments, clock=clock) as daemon:
        await live(daemon, clock, seed)
    first = await exported(connect_arguments)
    happened = {(line["type"], line["reason"]) for line in parsed(first) if "seq" in line}
    assert seed % 2 or {("member", "left"), ("claim", "expired"), ("reaction", "added")} <= happened
    async with session(private_address) as connection:
        await migrate(connection)
    await imported(first, private_address)
    second = await exported(private_address)
    assert without_what_must_differ(second) == without_what_must_differ(first)
    assert second != first
    # A daemon checks at its end that log and tables agree.
    async with running(private_address, clock=clock) as daemon:
        ann = daemon.party("ann")
        await ann.join("plan")
        head = parsed(second)[0]["room"]["latest_seq"]
        assert (await ann.say("plan", "on"))[0] > head


class TestImport:
    async def test_under_another_name_and_project(
        self, file: bytes, target: dict[str, Any]
    ) -> None:
        await imported(file, target)
        with pytest.raises(NotEmptyError, match="room named 'plan' already"):
            await imported(file, target)
        # The members are active in the room itself, and nobody is in two.
        done = await imported(file, target, name="Old Plan")
        assert (done.slug, done.left) == ("old-plan", ("ann", "bob"))
        again = await exported(target, "old-plan")
        ended = [(line["type"], line["reason"]) for line in parsed(again) if "seq" in line][-5:]
        assert ended[1:] == [
            ("status", "left"), ("member", "left"), ("claim", "left"), ("member", "left"),
        ]  # fmt: skip
        elsewhere = await imported(file, target, project="other")
        assert (elsewhere.slug, elsewhere.left) == ("plan", ())
        async with running(target, clock=FakeClock()) as daemon:
            assert await daemon.party("ann").say("plan", "still here")

    async def test_members_go_on_where_they_were(self, file: bytes, target: dict[str, Any]) -> None:
        await imported(file, target)
        async with running(target, clock=FakeClock()) as daemon:
            ann, cy = map(daemon.party, ("ann", "cy"))
            assert (await ann.wait("@active"))["events"][0]["author"]["name"] == "bob"
            held = await ann.refused(
                "claim_conflict", "POST", "/rooms/plan/claims", {"key": "the draft"}
            )
            assert held["holder"]["conversation_id"] == "bob"
            await cy.refused("active_membership_not_found", "GET", "/rooms/plan/wait")
            found = await ann.ok("GET", "/search", q="why")
            assert len(found["results"]) == 1

    async def test_what_a_person_said_lets_nobody_speak_as_that_person(
        self, target: dict[str, Any], private_address: dict[str, Any]
    ) -> None:
        async with running(private_address, clock=FakeClock()) as daemon:
            person = Caller("default", "human", "human", "fay", ("token", "fay"))
            fay = Party(daemon.daemon, None, person)
            offer = {"name": "fay", "kind": "human", "role": "human"}
            code = (await daemon.operator.ok("POST", "/enrollments", offer))["code"]
            await fay.ok("POST", "/enroll", {"code": code})
            await fay.create("plan")
            await fay.say("plan", "I approve")
        file = await exported(private_address)
        await imported(file, target)
        async with running(target, clock=FakeClock()) as daemon:
            ghost = daemon.party("fay")
            await ghost.refused("conversation_not_yours", "GET", "/rooms/plan/messages")
            [said] = (await daemon.operator.ok("GET", "/rooms/plan/messages"))["messages"]
            assert said["author"]["kind"] == "human"
            # The person comes in again by a code of this daemon's operator.
            await daemon.operator.ok("POST", "/enrollments", offer)


Damage = Callable[[list[Json]], Any]


def _event(lines: list[Json], kind: str, reason: str | None = None) -> Json:
    return next(
        line for line in lines if line.get("type") == kind and reason in (None, line["reason"])
    )


def _line_of(lines: list[Json], kind: str) -> Json:
    found: Json = next(line[kind] for line in lines if kind in line)
    return found


def _sets(which: str, /, **values: Any) -> Damage:
    """Change the first line of a kind: the header, a member, a claim, a reaction or an event."""

    def damage(lines: list[Json]) -> None:
        if which == "header":
            lines[0].update(values)
        elif which == "room":
            lines[0]["room"].update(values)
        elif which in ("member", "claim", "reaction", "end"):
            _line_of(lines, which).update(values)
        else:
            _event(lines, *which.split()).update(values)

    return damage


def _moves_a_reaction_behind_the_events(lines: list[Json]) -> None:
    [number] = [
        number for number, line in enumerate(lines) if "reaction" in line and len(line) == 1
    ]
    lines.insert(-1, lines.pop(number))


def _names_a_stranger(lines: list[Json]) -> None:
    _event(lines, "message")["author"]["membership_id"] = "member_0000000000000"


def _renames_an_author(lines: list[Json]) -> None:
    _event(lines, "message")["author"]["conversation_id"] = "eve"


def _drops(number: int) -> Damage:
    return lambda lines: lines.pop(number)


def _says_one_more(lines: list[Json]) -> None:
    lines.insert(-1, _event(lines, "message") | {"seq": 10})


def _repeats_a_member(lines: list[Json]) -> None:
    lines.insert(1, lines[1])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_sets("header", version=2), "of format 2"),
        (_sets("header", format="else"), "line 1 is not the beginning"),
        (_sets("header", more=1), "line 1 is wrong at more"),
        (_sets("room", kind="peer"), "line 1 is wrong at room.kind"),
        (_sets("room", name="a/b"), "line 1 is wrong at room.name: .*slash"),
        (_sets("room", slug="other"), "line 1 has the slug"),
        (_sets("room", latest_seq=2**63), "line 1 is wrong at room.latest_seq"),
        (_sets("room", latest_seq=8), "line 4 has an attendance .* beyond the log"),
        (_sets("room", latest_seq=99), "comes after event"),
        (_sets("room", first_seq=100), "first_seq beyond"),
        (_sets("room", created_at="2026-01-01"), "line 1 is wrong at room.created_at"),
        (_sets("room", project="a\nb"), "line 1 is wrong at room.project"),
        (_sets("member", cursor=-1), "line 2 is wrong at cursor"),
        (_sets("member", cursor=1000), "line 2 has a cursor beyond"),
        (_sets("member", kind="robot"), "line 2 is wrong at kind"),
        (_sets("member", name="else"), "line 2 is named 'else'"),
        (_sets("member", conversation_id="a\x00b"), "line 2 is wrong at conversation_id"),
        (_sets("member", conversation_id="ü" * 100), "line 2 is wrong at conversation_id"),
        (_sets("member", state="inactive"), "line 2 has a status of somebody who has left"),
        (_sets("member", attendances=[]), "line 2 is wrong at attendances"),
        (
            _sets("member", attendances=[{"joined_seq": 5, "left_seq": 4}]),
            "line 2 has an attendance that ends",
        ),
        (
            _sets("member", attendances=[{"joined_seq": 2, "left_seq": None}]),
            "do not lead to these attendances",
        ),
        (_sets("claim", expires_at="9999-01-01T00:00:00.000Z"), "too far ahead"),
        (_sets("claim", key="else"), "do not lead to these claims"),
        (_sets("claim", fence=1000), "number beyond"),
        (_sets("reaction", reaction="nod"), "is wrong at reaction"),
        (_sets("reaction", message_id=5), "do not lead to these reactions"),
        (_sets("message", body=" "), "is wrong at message.body"),
        (_sets("message", body="x" * 70_000), "more than 65536 bytes"),
        (_sets("message", body="\ud800"), "is wrong at message.body"),
        (_sets("message", kind="note"), "is wrong at message.kind"),
        (_sets("message", seq=40), "has number 40, where 4 should come"),
        (_sets("message", seq=True), "is wrong at message.seq"),
        (_sets("message", reason="x"), "is wrong at message.reason"),
        (_sets("message", reply_to=1), "replies, and is no answer"),
        (_sets("message", kind="answer"), "is an answer to nothing"),
        (_sets("message", kind="decision"), "names 4, which is no question before it"),
        (_sets("message", author=None), "should name its author"),
        (_sets("message", type="poll"), "is wrong"),
        (_sets("member joined", reason="left"), "is of nobody in it"),
        (_sets("status set", reason="cleared"), "ends a status that does not stand"),
        (_sets("claim claimed", fence=1), "under a fence that is not its number"),
        (_sets("claim claimed", reason="renewed"), "does not hold then"),
        (_sets("reaction added", reason="removed"), "removes one that is not"),
        (_sets("reaction added", message_id=1), "names 1, which is no message"),
        (_sets("member left", reason="joined"), "is of somebody who is in already"),
        (_sets("end", events=7), "counts"),
        (_moves_a_reaction_behind_the_events, "comes too late"),
        (_names_a_stranger, "who is no member"),
        (_renames_an_author, "otherwise than its member's line"),
        (_says_one_more, "has number 10, beyond 9"),
        (_repeats_a_member, "line 3 is a second member"),
        (_drops(1), "who is no member"),
        (_drops(7), "where 1 should come|where 2 should come"),
        (_drops(-1), "is cut short"),
    ],
)
async def test_a_line_that_is_wrong_is_named_and_changes_nothing(
    damage: Damage, message: str, file: bytes, target: dict[str, Any]
) -> None:
    lines = parsed(file)
    damage(lines)
    before = await backed_up(target)
    with pytest.raises(ArchiveError, match=message):
        await imported(written(lines), target)
    assert contents(await backed_up(target)) == contents(before)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "line 3 is cut short"),
        (b"[]\n", "line 3 is not a JSON object"),
        (b"\xff\n", "line 3 is not JSON"),
        (b'{"seq": NaN}\n', "line 3 is not JSON"),
        (b"[" * 100_000 + b"\n", "line 3 is not JSON"),
        (b"x" * 600_000 + b"\n", "line 3 is too long"),
        (b'{"member": {}, "claim": {}}\n', "line 3 is wrong"),
        (b"", "line 3 is cut short"),
    ],
)
async def test_what_is_no_line_is_named(
    line: bytes, message: str, file: bytes, target: dict[str, Any]
) -> None:
    begin = b"".join(file.splitlines(keepends=True)[:2])
    with pytest.raises(ArchiveError, match=message):
        await imported(begin + line, target)


@pytest.mark.parametrize("file", [b"", gzip.compress(b"{}\n"), b"[]\n", b"x" * 600_000])
def test_another_file_is_told_from_a_damaged_one(file: bytes) -> None:
    with pytest.raises(ArchiveError, match="line 1 is not the beginning of what"):
        RoomReader(io.BytesIO(file))


async def test_every_line_is_missed(file: bytes, target: dict[str, Any]) -> None:
    lines = file.splitlines(keepends=True)
    before = contents(await backed_up(target))
    for number in range(len(lines)):
        with pytest.raises(ArchiveError):
            await imported(b"".join(lines[:number] + lines[number + 1 :]), target)
    assert contents(await backed_up(target)) == before


async def test_a_full_disk_and_many_chunks(
    file: bytes, target: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "_CHUNK", 2)
    await imported(file, target)
    again = await exported(target)
    assert without_what_must_differ(again) == without_what_must_differ(file)


async def test_who_is_another_kind_here_is_refused(file: bytes, target: dict[str, Any]) -> None:
    async with running(target, clock=FakeClock()) as daemon:
        offer = {"name": "bob", "kind": "human", "role": "human"}
        code = (await daemon.operator.ok("POST", "/enrollments", offer))["code"]
        await daemon.operator.ok("POST", "/enroll", {"code": code})
    with pytest.raises(ArchiveError, match="line 3 has bob as kind agent, who is another kind"):
        await imported(file, target)


async def test_what_cannot_be_exported(connect_arguments: dict[str, Any]) -> None:
    async with running(connect_arguments) as daemon:
        ann, _ = await daemon.room("plan", "ann", "bob")
        opened = await ann.ok("POST", "/conversations", {"with": "bob"})
    with pytest.raises(ArchiveError, match="no room 'plant' in the project 'default'"):
        await exported(connect_arguments, "plant")
    with pytest.raises(ArchiveError, match="no room 'plan' in the project 'other'"):
        await exported(connect_arguments, "plan", "other")
    with pytest.raises(ArchiveError, match="is a conversation of two"):
        await exported(connect_arguments, opened["conversation"]["id"])
    async with session(connect_arguments) as connection:
        assert await connection.fetchval("SELECT count(*) FROM rooms") == 2
