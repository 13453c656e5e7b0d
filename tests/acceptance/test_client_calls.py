"""The client library and the daemon: every call, its answer, its errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import pytest

from coordrooms import (
    ActiveMembershipConflictError,
    AsyncClient,
    AsyncRoom,
    ClaimConflictError,
    ClaimEvent,
    Client,
    ConversationRequiredError,
    CursorAheadError,
    GenerationChangedError,
    IdempotencyKeyReusedError,
    InvalidArgumentsError,
    MemberEvent,
    MembershipNotFoundError,
    Message,
    NotClaimHolderError,
    OwnMessageError,
    ReactionCount,
    ReactionEvent,
    ReplyTargetInvalidError,
    RoomNameConflictError,
    RoomNotFoundError,
    StatusEvent,
    UnseenMessagesError,
)
from tests.acceptance.daemons import Daemon
from tests.polling import until

Unique = Callable[[str], str]


class Pair(NamedTuple):
    """Two participants in a fresh room, each with a client and a handle of its own."""

    ann: AsyncRoom
    bob: AsyncRoom


@pytest.fixture
async def pair(daemon: Daemon, unique: Unique) -> AsyncIterator[Pair]:
    async with (
        AsyncClient(unique("ann"), url=daemon.url) as ann,
        AsyncClient(unique("bob"), url=daemon.url) as bob,
    ):
        made = await ann.create_room(unique("room"))
        yield Pair(made, await bob.join(made.ref))


@pytest.fixture
def blocking(daemon: Daemon, unique: Unique) -> Iterator[Client]:
    with Client(unique("cat"), url=daemon.url) as client:
        yield client


# --- rooms and members ---------------------------------------------------------------------


async def test_making_joining_and_leaving(daemon: Daemon, pair: Pair, unique: Unique) -> None:
    ann, bob = pair
    assert ann.joined is not None
    assert bob.joined is not None
    assert ann.joined.room.name == unique("room")
    assert (ann.joined.next_after_seq, bob.joined.next_after_seq) == (1, 2)
    members = await ann.members()
    assert [(m.conversation_id, m.state, m.cursor) for m in members] == [
        (unique("ann"), "active", 1),
        (unique("bob"), "active", 2),
    ]
    left = await bob.leave()
    assert left.membership.state == "inactive"
    overview = await ann.overview()
    assert [m.state for m in overview.members] == ["active", "inactive"]
    assert overview.room.latest_seq == 3
    assert [room.ref for room in await ann.client.rooms() if room.ref == ann.ref] == [ann.ref]


async def test_who_one_is(pair: Pair, unique: Unique) -> None:
    me = await pair.bob.client.me()
    assert me.participant.conversation_id == unique("bob")
    assert me.active_room is not None
    assert me.active_room.ref == pair.bob.ref
    assert me.membership is not None
    assert me.membership.cursor == 2
    everybody = {p.conversation_id: p for p in await pair.ann.client.participants()}
    assert everybody[unique("ann")].active_room == pair.ann.ref


async def test_refusals_of_rooms(daemon: Daemon, pair: Pair, unique: Unique) -> None:
    async with AsyncClient(unique("cat"), url=daemon.url) as cat:
        with pytest.raises(RoomNotFoundError) as lost:
            await cat.join(unique("rom"))
        assert lost.value.did_you_mean == unique("room")
        with pytest.raises(RoomNameConflictError):
            await cat.create_room(unique("Room"))
        with pytest.raises(MembershipNotFoundError):
            await cat.room(pair.ann.ref).post("hello")
        assert (await cat.join(unique("room"), create=True)).ref == pair.ann.ref
        with pytest.raises(ActiveMembershipConflictError) as elsewhere:
            await cat.create_room(unique("another"))
        assert elsewhere.value.room == pair.ann.ref
    async with AsyncClient(url=daemon.url) as nobody:
        with pytest.raises(ConversationRequiredError):
            await nobody.create_room(unique("third"))


async def test_a_name_that_needs_escaping(daemon: Daemon, unique: Unique) -> None:
    name = f"Ä room? 100% #{unique('x')} & 日本"
    async with AsyncClient(f"Jörg {unique('Ä')} 50%", url=daemon.url) as client:
        room = await client.create_room(name)
        assert (await client.room(name).overview()).room.ref == room.ref
        assert (await client.me()).participant.conversation_id == f"Jörg {unique('Ä')} 50%"


# --- messages ------------------------------------------------------------------------------


async def test_saying_and_reading(pair: Pair) -> None:
    ann, bob = pair
    posted = await ann.post("Which port?", "question")
    assert (posted.message.id, posted.latest_seq, posted.unseen_before_send) == (3, 3, None)
    answered = await bob.answer(posted.message, "8080", idempotency_key="k")
    assert (await bob.answer(3, "8080", idempotency_key="k")).message.id == answered.message.id
    with pytest.raises(IdempotencyKeyReusedError):
        await bob.answer(3, "8081", idempotency_key="k")
    drafts = [{"kind": "decision", "body": f"m{n}"} for n in range(3)]
    many = await ann.post_many(drafts, after_seq=3)
    assert [m.body for m in many.messages] == ["m0", "m1", "m2"]
    assert many.unseen_before_send == 1
    page = await bob.history(limit=2)
    assert [m.id for m in page.messages] == [3, 4]
    target = page.messages[1].reply_target
    assert target is not None
    assert (target.id, target.body) == (3, "Which port?")
    assert (page.has_more, page.next_after_seq, page.latest_seq) == (True, 4, 7)
    decisions = await bob.history(kind="decision")
    assert [m.body for m in decisions.messages] == ["m0", "m1", "m2"]
    assert (await bob.message(4)).body == "8080"
    log = await ann.events()
    assert [event.seq for event in log.events] == list(range(1, 8))
    assert isinstance(log.events[0], MemberEvent)


async def test_refusals_of_messages(pair: Pair) -> None:
    ann, bob = pair
    await bob.post("one")
    await bob.post("two")
    with pytest.raises(UnseenMessagesError) as unseen:
        await ann.post("too late", after_seq=2, max_unseen=1)
    assert (unseen.value.unseen, unseen.value.latest_seq) == (2, 4)
    with pytest.raises(InvalidArgumentsError) as invalid:
        await ann.post_many([{"kind": "song", "body": "la"}, {"kind": "decision", "body": " "}])
    assert {fault["field"] for fault in invalid.value.errors} == {
        "messages[0].kind",
        "messages[1].body",
    }
    with pytest.raises(ReplyTargetInvalidError) as target:
        await ann.answer(3, "an answer to no question")
    assert target.value.reply_to == 3


async def test_what_happened_to_a_message(pair: Pair) -> None:
    ann, bob = pair
    said = (await ann.post("Look.")).message
    assert [r.stage for r in await ann.receipts(said.id)] == ["stored"]
    await bob.wait(2)
    assert [r.stage for r in await ann.receipts(said.id)] == ["retrieved"]
    await bob.react(said.id, "ack")
    [receipt] = await ann.receipts(said.id)
    assert (receipt.stage, receipt.participant.name) == ("acknowledged", bob.client.conversation)
    assert receipt.acknowledged_at is not None


# --- waiting -------------------------------------------------------------------------------


async def test_a_wait_is_ended_by_what_others_do(pair: Pair) -> None:
    ann, bob = pair
    waiting = asyncio.ensure_future(ann.wait(2))
    await until(lambda: is_waiting(bob))
    await ann.post("one's own")
    said = (await bob.post("news")).message
    woken = await waiting
    assert (woken.reason, woken.woken_by, woken.next_after_seq) == ("event", (4,), 4)
    assert [event.seq for event in woken.events] == [said.seq]
    quiet = await ann.wait(4, timeout_s=0)
    assert (quiet.reason, quiet.events) == ("timeout", ())


async def is_waiting(room: AsyncRoom) -> bool:
    return any(member.waiting for member in await room.members())


async def test_a_wait_that_is_given_up_is_over(pair: Pair) -> None:
    waiting = asyncio.ensure_future(pair.ann.wait(2))
    await until(lambda: is_waiting(pair.bob))
    waiting.cancel()

    async def nobody_waits() -> bool:
        return not await is_waiting(pair.bob)

    await until(nobody_waits)


async def test_a_wait_on_many_and_the_unread(pair: Pair) -> None:
    ann, bob = pair
    await bob.post("news")
    woken = await ann.client.wait({ann.ref: None}, timeout_s=5)
    assert woken.reason == "event"
    assert [event.seq for event in woken.rooms[ann.ref].events] == [2, 3]
    [unread] = await ann.client.unread()
    assert ([m.body for m in unread.messages], unread.through_seq) == (["news"], 3)
    assert await ann.client.confirm({unread.room: unread.through_seq}) == {ann.ref: 3}
    [unread] = await ann.client.unread()
    assert unread.messages == ()


async def test_numbers_from_elsewhere_are_refused(pair: Pair) -> None:
    with pytest.raises(CursorAheadError):
        await pair.ann.wait(99)
    with pytest.raises(GenerationChangedError):
        await pair.ann.history(0, generation="another")


async def test_asking(pair: Pair) -> None:
    ann, bob = pair

    async def answer() -> None:
        async for event in bob.follow():
            if isinstance(event, Message) and event.kind == "question":
                await bob.answer(event, "8080")
                return

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(answer())
        asked = await ann.ask("Which port?", timeout_s=30)
    assert asked.answer is not None
    assert (asked.answer.body, asked.answer.reply_to) == ("8080", asked.question.id)


async def test_an_agent_loop(pair: Pair) -> None:
    """Everybody follows, everything arrives: each event by the other, once and in order."""
    ann, bob = pair

    async def talk(room: AsyncRoom, until_seen: int) -> list[str]:
        seen: list[str] = []
        async for event in room.follow(limit=3):
            if isinstance(event, Message):
                seen.append(event.body)
            if len(seen) == until_seen:
                break
        return seen

    async with asyncio.TaskGroup() as tasks:
        of_ann = tasks.create_task(talk(ann, 20))
        of_bob = tasks.create_task(talk(bob, 20))
        for n in range(20):
            await ann.post(f"a{n}")
            await bob.post(f"b{n}")
    assert of_ann.result() == [f"b{n}" for n in range(20)]
    assert of_bob.result() == [f"a{n}" for n in range(20)]


async def test_looking_on(pair: Pair) -> None:
    ann, bob = pair
    streamed = ann.stream(after_seq=0)
    await bob.post("news")
    seqs = [getattr(await anext(streamed), "seq", None) for _ in range(3)]
    await ann.post("one's own")
    seqs.append(getattr(await anext(streamed), "seq", None))
    await streamed.aclose()
    assert seqs == [1, 2, 3, 4]


# --- statuses, reactions, claims -----------------------------------------------------------


async def test_statuses(pair: Pair) -> None:
    ann, bob = pair
    change = await ann.set_status("reading the diff", expires_in_s=60)
    assert change.changed
    assert change.status is not None
    assert change.status.since <= datetime.now(UTC) < change.status.expires_at
    assert not (await ann.set_status("reading the diff")).changed
    [status] = [m.status for m in await bob.members() if m.name == ann.client.conversation]
    assert status is not None
    assert status.status == "reading the diff"
    assert (await ann.clear_status()).status is None
    woken = await bob.wait(2, wake_on="status")
    assert [(e.reason, e.status) for e in woken.events if isinstance(e, StatusEvent)] == [
        ("set", "reading the diff"),
        ("cleared", "reading the diff"),
    ]


async def test_reactions(pair: Pair) -> None:
    ann, bob = pair
    said = (await ann.post("Agreed?")).message
    change = await bob.react(said.id, "agree", after_seq=2)
    assert (change.changed, change.unseen_before_send) == (True, 1)
    assert change.counts == {"agree": ReactionCount(total=1, human=0)}
    assert not (await bob.react(said.id, "agree")).changed
    [reaction] = await ann.reactions(said.id)
    assert (reaction.reaction, reaction.author.name) == ("agree", bob.client.conversation)
    assert (await ann.message(said.id)).reactions == change.counts
    with pytest.raises(OwnMessageError):
        await ann.react(said.id, "ack")
    assert (await bob.unreact(said.id, "agree")).counts == {}
    woken = await ann.wait(3, wake_on="reaction")
    assert [(e.reason, e.message_id) for e in woken.events if isinstance(e, ReactionEvent)] == [
        ("added", said.id),
        ("removed", said.id),
    ]


async def test_claims(pair: Pair) -> None:
    ann, bob = pair
    said = (await ann.post("I could write the draft.")).message
    taken = await ann.take("the-draft", lease_s=60, proposed_by_seq=said.id)
    assert (taken.renewed, taken.claim.proposed_by_seq) == (False, said.id)
    again = await ann.take("the-draft", fence=taken.claim.fence)
    assert (again.renewed, again.claim.fence) == (True, taken.claim.fence)
    with pytest.raises(ClaimConflictError) as held:
        await bob.take("the-draft")
    assert held.value.holder is not None
    assert held.value.holder.conversation_id == ann.client.conversation
    assert held.value.expires_at == again.claim.expires_at
    assert held.value.fence == taken.claim.fence
    assert [claim.key for claim in await bob.claims()] == ["the-draft"]
    assert (await ann.post("The draft.", if_claim=again.claim)).message.body == "The draft."
    assert (await ann.release("the-draft", fence=taken.claim.fence)).released
    assert not (await ann.release("the-draft")).released
    with pytest.raises(NotClaimHolderError):
        await ann.post("Late.", if_claim=again.claim)
    reasons = [e.reason for e in (await bob.events(3)).events if isinstance(e, ClaimEvent)]
    assert reasons == ["claimed", "renewed", "released"]


# --- conversations -------------------------------------------------------------------------


async def test_conversations(pair: Pair) -> None:
    ann, bob = pair
    assert bob.client.conversation is not None
    thread = await ann.client.open_conversation(bob.client.conversation)
    sent = (await thread.send("Done?", "question")).message
    theirs = bob.client.room(thread.ref)
    woken = await theirs.wait(0)
    assert [event.seq for event in woken.events] == [sent.id]
    assert (await theirs.acknowledge(sent.id)).changed
    await theirs.send("Done.", "result", reply_to=sent.id)
    page = await thread.thread()
    assert [(m.kind, m.body, m.reply_to) for m in page.messages] == [
        ("question", "Done?", None),
        ("result", "Done.", 1),
    ]
    [room] = await bob.client.conversations()
    assert (room.ref, room.kind) == (thread.ref, "peer")
    assert {member.conversation_id for member in room.members} == {
        ann.client.conversation,
        bob.client.conversation,
    }


# --- the blocking front --------------------------------------------------------------------


def test_the_same_without_async(blocking: Client, daemon: Daemon, unique: Unique) -> None:
    room = blocking.create_room(unique("room"))
    with Client(unique("dog"), url=daemon.url) as dog:
        theirs = dog.join(room.ref)
        question = theirs.post("Which port?", "question").message
        for event in room.follow():
            if isinstance(event, Message):
                room.answer(event, "8080")
                break
        woken = theirs.wait(question.seq, wake_on=f"answer:{question.id}")
        assert [e.body for e in woken.events if isinstance(e, Message)] == ["8080"]
        with room.claim("the-draft") as lease:
            assert room.post("The draft.", if_claim=lease).message.body == "The draft."
            with pytest.raises(ClaimConflictError):
                theirs.take("the-draft")
        assert theirs.claims() == []
        stream = theirs.stream(after_seq=0)
        assert getattr(next(stream), "seq", None) == 1
        stream.close()
