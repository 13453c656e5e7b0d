"""Search finds what the caller may read and nothing else, and takes any text for words."""

from __future__ import annotations

import asyncio
import functools
import unicodedata
from collections.abc import AsyncIterator

import pytest

from coordroomsd import chores
from coordroomsd.api.callers import Caller
from coordroomsd.api.search import AROUND, BEGIN, END, snippet
from coordroomsd.store import upkeep
from coordroomsd.store.sessions import ConnectArguments
from tests.integration.daemons import Party, Running, running
from tests.polling import until

WORD = "needle"


@pytest.fixture
async def daemon(
    connect_arguments: ConnectArguments, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Running]:
    """It indexes nothing by itself: only `daemon.index()` does."""
    monkeypatch.setattr(chores, "INDEX_AFTER_S", 3600)
    async with running(connect_arguments) as daemon:
        yield daemon


def person(daemon: Running, name: str = "pat", project: str = "default") -> Party:
    caller = Caller(project, "human", "human", name, ("token", project, name))
    return Party(daemon.daemon, name, caller)


def warden(daemon: Running, project: str) -> Party:
    caller = Caller(project, "agent", "operator", "warden", ("token", project, "warden"))
    return Party(daemon.daemon, "warden", caller)


async def found(party: Party, words: str = WORD, room: str | None = None) -> list[tuple[str, str]]:
    """Room and body of each result."""
    results = (await party.ok("GET", "/search", q=words, room=room))["results"]
    return [(one["room"], one["message"]["body"]) for one in results]


async def thread(one: Party, other: Party, text: str) -> str:
    room = (await one.ok("POST", "/conversations", {"with": other.name}))["conversation"]["id"]
    note = {"kind": "note", "body": text}
    path = f"/conversations/{room}/messages"
    await one.ok("POST", path, note, idempotency_key="a-key")
    return str(room)


async def test_its_boundaries(daemon: Running) -> None:
    ann, bob = await daemon.room("here", "ann", "bob")
    [cat] = await daemon.room("there", "cat")
    await ann.say("here", f"{WORD} here")
    await cat.say("there", f"{WORD} there")
    ours = await thread(ann, bob, f"{WORD} between us")
    [eve] = await daemon.room("elsewhere", "eve")
    far = Party(daemon.daemon, "far", Caller("p", "agent", "agent", "far", ("token", "p", "far")))
    await far.create("here")
    await far.say("here", f"{WORD} in another project")

    here, there, between = (
        ("here", f"{WORD} here"),
        ("there", f"{WORD} there"),
        (ours, f"{WORD} between us"),
    )
    assert await found(ann) == [between, here]
    assert await found(bob) == [between, here]
    assert await found(cat) == [there]
    assert await found(eve) == []
    assert await found(daemon.party("a-newcomer")) == []
    assert await found(person(daemon)) == [there, here]
    assert await found(daemon.operator) == [there, here]
    assert (
        await found(far)
        == await found(warden(daemon, "p"))
        == [("here", f"{WORD} in another project")]
    )
    assert await found(person(daemon, project="an-empty-project")) == []

    # A room that is named is searched by whoever may read it, and is no way around.
    assert await found(daemon.operator, room=ours) == [between]
    assert await found(ann, room=ours) == [between]
    for party, room, code in (
        (cat, "here", "membership_not_found"),
        (cat, ours, "room_not_found"),
        (person(daemon), ours, "room_not_found"),
        (far, "there", "room_not_found"),
        (far, ours, "room_not_found"),
        (warden(daemon, "p"), ours, "room_not_found"),
    ):
        await party.refused(code, "GET", "/search", q=WORD, room=room)


async def test_who_leaves_finds_nothing_there(daemon: Running) -> None:
    ann, bob = await daemon.room("here", "ann", "bob")
    await ann.say("here", WORD)
    assert len(await found(bob)) == 1
    await bob.leave("here")
    assert await found(bob) == []
    await bob.refused("active_membership_not_found", "GET", "/search", q=WORD, room="here")
    await bob.join("here")
    assert len(await found(bob)) == 1


HOSTILE = [
    "'", '"', "\\", "%", "_", "&", "|", "!", "<->", ":*", "()", "(((", "a & ", "!!a",
    "'; DROP TABLE events; --", "$1", "{}", "%s", "\u202e", "\u200b", "\ufeff", "\U0001f4a9",
    "İ", "ß", "ﬁ", "é", "e\u0301", "日本語", "ก็็็็", "-", "--", "@", "/", "//",
    "http://x.test/?a=b&c", "a.b.c", "x" * 999, " ".join("abcdefghij" * 49), "⟦", "⟧",
    "⟦needle⟧", "<b>", "&amp;", "\x01", "\x7f", "nan", "null", "AND", "OR 1=1", "NOT",
]  # fmt: skip


async def test_any_text_is_only_text(daemon: Running) -> None:
    """It is taken for words, is found where it stands if it has any, and never means more."""
    ann = daemon.party("ann")
    for number, text in enumerate(HOSTILE):
        room = f"room-{number}"
        await ann.create(room)
        await ann.say(room, f"before {text} after", "another message")
        reply = await ann.call("GET", "/search", q=text, room=room)
        assert reply.status == 200, (text, reply.body)
        bodies = [one["message"]["body"] for one in reply.body["results"]]
        assert bodies in ([], [f"before {text} after"]), text
        has_words = any(unicodedata.category(sign)[0] in "LN" for sign in text)
        assert bodies or not has_words, text
        for one in reply.body["results"]:
            assert _unmarked(one["snippet"]).strip("… ") in _unmarked(one["message"]["body"])
        await ann.leave(room)


# Postgres' own parser would take a minute for the last three, in which nobody could write.
@pytest.mark.parametrize("part", ["word ", "a-", "a/", "a.b@c.", "-", "a_", "~/", "a-1."])
async def test_no_text_keeps_others_from_writing(daemon: Running, part: str) -> None:
    ann, bob = await daemon.room("here", "ann", "bob")
    whole = part * (65_000 // len(part)) + f" {WORD}"
    await asyncio.gather(ann.say("here", whole), bob.say("here", "in between"))
    assert await found(bob) == [("here", whole)]


async def test_a_word_is_found_wherever_it_stands(daemon: Running) -> None:
    [ann] = await daemon.room("here", "ann")
    texts = [f"<b>{WORD}</b>", f"src/{WORD}/x.py:120", f"http://{WORD}.example/?a", f"a_{WORD}-b"]
    await ann.say("here", *texts, f"un{WORD}ed")
    assert [body for _, body in await found(ann)] == texts[::-1]
    assert [body for _, body in await found(ann, "src/needle")] == [texts[1]]


def _unmarked(text: str) -> str:
    return text.replace(BEGIN, "").replace(END, "")


async def test_bad_arguments(daemon: Running) -> None:
    [ann] = await daemon.room("here", "ann")
    for q in ("", " \t\n", "a\0b", "x" * 1001):
        problem = await ann.refused("invalid_arguments", "GET", "/search", q=q)
        assert [error["field"] for error in problem["errors"]] == ["q"]
    for limit in ("0", "101", "ten"):
        problem = await ann.refused("invalid_arguments", "GET", "/search", q=WORD, limit=limit)
        assert [error["field"] for error in problem["errors"]] == ["limit"]


@pytest.mark.parametrize(
    ("body", "words", "shown"),
    [
        ("Use the Needle.", "needle", "Use the ⟦Needle⟧."),
        ("needle, needles, needle", "needle", "⟦needle⟧, needles, ⟦needle⟧"),
        ("one two three", "three one", "⟦one⟧ two ⟦three⟧"),
        ("a+b (c)", "c", "a+b (⟦c⟧)"),
        ("nothing of it", "other", "nothing of it"),
        ("x.*y", ".*", "x.*y"),
        ("a_needle-b", "needle", "a_⟦needle⟧-b"),
        ("Ünïcode word", "ünïcode", "⟦Ünïcode⟧ word"),
    ],
)
def test_highlights(body: str, words: str, shown: str) -> None:
    assert snippet(body, words) == shown


def test_a_snippet_of_a_long_text() -> None:
    body = "x " * 5000 + "needle" + " y" * 5000
    shown = snippet(body, "needle")
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert shown.count("⟦needle⟧") == 1
    assert len(shown) <= 2 * AROUND + len("⟦⟧… …") + 2
    assert shown.strip("… ").replace(BEGIN, "").replace(END, "") in body


def test_a_word_of_any_length_is_shown_whole() -> None:
    word = "w" * 900
    assert f"⟦{word}⟧" in snippet(f"{'x ' * 500}{word} after", word)


async def indexed(daemon: Running) -> int | None:
    """Up to which number the room `here` is indexed."""
    seq: int | None = await daemon.database.reads.fetchval(
        "SELECT seq FROM indexed JOIN rooms ON id = room_id WHERE slug = 'here'"
    )
    return seq


async def test_it_is_found_before_and_after_it_is_indexed(daemon: Running) -> None:
    ann, bob = await daemon.room("here", "ann", "bob")
    await ann.say("here", f"{WORD} one")
    assert await indexed(daemon) is None
    assert await found(bob) == [("here", f"{WORD} one")]
    await daemon.index()
    assert await indexed(daemon) == 3
    assert not daemon.services.unindexed
    assert await found(bob) == [("here", f"{WORD} one")]
    await ann.say("here", f"{WORD} two")
    assert await found(bob) == [("here", f"{WORD} two"), ("here", f"{WORD} one")]
    assert await found(daemon.operator) == await found(bob)


async def test_a_long_room_is_indexed_in_parts(
    daemon: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "CHUNK", 3)
    ann, bob = await daemon.room("here", "ann", "bob")
    await ann.say("here", *(f"{WORD} {number}" for number in range(10)))
    await daemon.index()
    assert await indexed(daemon) == 12
    assert len(await found(bob)) == 10


async def test_after_a_restart_the_rest_is_indexed(
    connect_arguments: ConnectArguments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chores, "INDEX_AFTER_S", 3600)
    async with running(connect_arguments) as daemon:
        ann, _ = await daemon.room("here", "ann", "bob")
        await ann.say("here", f"{WORD} one")
        await daemon.index()
        await ann.say("here", f"{WORD} two")
    async with running(connect_arguments) as daemon:
        bob = daemon.party("bob")
        assert len(await found(bob)) == 2
        await daemon.index()
        assert await indexed(daemon) == 4
        assert len(await found(bob)) == 2


async def test_what_retention_removes_is_no_longer_in_the_index(daemon: Running) -> None:
    ann, bob = await daemon.room("here", "ann", "bob")
    await ann.say("here", f"{WORD} one", f"{WORD} two")
    await daemon.index()
    await daemon.operator.ok("PUT", "/rooms/here/retention", {"max_events": 1})
    reads = daemon.database.reads
    await until(lambda: reads.fetchval("SELECT count(*) = 1 FROM words"))
    assert await found(bob) == [("here", f"{WORD} two")]


async def test_the_daemon_indexes_by_itself(connect_arguments: ConnectArguments) -> None:
    async with running(connect_arguments) as daemon:
        ann, _ = await daemon.room("here", "ann", "bob")

        async def is_indexed_to(seq: int) -> bool:
            return await indexed(daemon) == seq

        for head in (3, 4):
            await ann.say("here", WORD)
            await until(functools.partial(is_indexed_to, head))
