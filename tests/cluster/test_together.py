"""What every rule promises, with two daemons on one database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from coordroomsd.api.callers import Caller
from coordroomsd.domain.claims import EndOverdue
from coordroomsd.domain.identities import credential_of, secret_hash
from coordroomsd.journal.submissions import Answer
from tests.clocks import FakeClock
from tests.cluster.daemons import together
from tests.integration.daemons import OPERATOR, Json, Party, Running, bodies, message
from tests.polling import until


@pytest.fixture
async def pair(connect_arguments: dict[str, Any]) -> AsyncIterator[list[Running]]:
    async with together(connect_arguments) as daemons:
        yield daemons


async def parked(daemon: Running, number: int = 1) -> None:
    await until(lambda: daemon.services.hub.statistics().waiting == number)


async def at_once(*calls: Any) -> list[Any]:
    return sorted(await asyncio.gather(*calls), key=lambda reply: reply.status)


async def test_what_was_done_at_one_is_so_at_the_other(pair: list[Running]) -> None:
    here, there = pair
    await here.party("ada").create("plan")
    assert await there.party("ada").say("@active", "one") == [2]
    await there.party("bob").join("plan")
    assert await here.party("bob").say("plan", "two") == [4]
    assert bodies(await there.party("ada").events("plan")) == ["one", "two"]
    found = await there.party("bob").ok("GET", "/search", q="two")
    assert [one["message"]["seq"] for one in found["results"]] == [4]
    await here.party("bob").leave("plan")
    await there.party("bob").refused(
        "active_membership_not_found", "POST", "/rooms/plan/messages", message("three")
    )


async def test_a_cursor_that_was_confirmed_at_one_is_so_at_the_other(pair: list[Running]) -> None:
    here, there = (one.party("ada") for one in pair)
    await here.create("plan")
    await there.ok("GET", "/unread")
    await pair[0].party("bob").join("plan")
    await here.ok("POST", "/cursor", {"cursors": {"plan": 2}})
    [row] = [row for row in await members(there) if row["name"] == "ada"]
    assert (row["cursor"], row["last_seen_seq"]) == (2, 2)


async def members(party: Party) -> list[Json]:
    rows: list[Json] = (await party.ok("GET", "/rooms/plan/members"))["members"]
    return rows


async def test_who_waits_at_one_is_shown_at_the_other(pair: list[Running]) -> None:
    here, there = pair
    await here.party("ada").create("plan")
    waiting = asyncio.create_task(here.party("ada").wait("plan", 1, timeout_s=60))

    async def is_shown() -> bool:
        [row] = await members(there.party("ada"))
        return bool(row["waiting"])

    await until(is_shown)
    await there.party("bob").join("plan")
    await there.party("bob").say("plan")
    assert (await waiting)["woken_by"] == [3]


async def test_a_wait_at_one_is_woken_by_the_other(pair: list[Running]) -> None:
    here, there = pair
    await here.party("ada").create("plan")
    await there.party("bob").join("plan")
    waiting = asyncio.create_task(here.party("ada").wait("plan", 2, timeout_s=60))
    await parked(here)
    await there.party("bob").say("plan", "hello")
    found = await waiting
    assert (found["reason"], found["woken_by"]) == ("event", [3])


async def test_numbers_have_no_gap_whoever_gives_them(pair: list[Running]) -> None:
    await pair[0].party("ada").create("plan")
    parties = [one.party(name) for one in pair for name in ("bob", "eve")]
    for party in parties[:2]:
        await party.join("plan")

    async def talk(party: Party) -> None:
        for number in range(10):
            await party.say("plan", f"{number}")

    await asyncio.gather(*map(talk, parties))
    log = await pair[1].party("ada").events("plan")
    assert [event["seq"] for event in log] == list(range(1, 44))


async def test_one_of_two_claims_wins(pair: list[Running]) -> None:
    here, there = pair[0].party("ada"), pair[1].party("bob")
    await here.create("plan")
    await there.join("plan")
    for key in ("a", "b", "c"):
        body = {"key": key}
        won, lost = await at_once(
            here.call("POST", "/rooms/plan/claims", body),
            there.call("POST", "/rooms/plan/claims", body),
        )
        assert (won.status, lost.body["code"]) == (200, "claim_conflict")
        assert lost.body["fence"] == won.body["claim"]["fence"]


async def test_a_key_at_two_daemons_at_once_is_one_call(pair: list[Running]) -> None:
    await pair[0].party("ada").create("plan")
    replies = await asyncio.gather(
        *(
            one.party("ada").call(
                "POST", "/rooms/plan/messages", message("once"), idempotency_key="k"
            )
            for one in pair * 3
        )
    )
    assert {reply.status for reply in replies} == {201}
    assert len({str(reply.body) for reply in replies}) == 1
    assert sum(not reply.replayed for reply in replies) == 1
    assert bodies(await pair[1].party("ada").events("plan")) == ["once"]


async def test_a_name_is_taken_once(pair: list[Running]) -> None:
    made, refused = await at_once(
        pair[0].party("ada").call("POST", "/rooms", {"name": "plan"}),
        pair[1].party("bob").call("POST", "/rooms", {"name": "plan"}),
    )
    assert (made.status, refused.body["code"]) == (201, "room_name_conflict")


async def test_nobody_is_active_in_two_rooms(pair: list[Running]) -> None:
    for number, room in enumerate(("one", "two")):
        await pair[number].party(f"maker-{number}").create(room)
    await pair[0].party("ada").join("one")
    await pair[1].party("ada").leave("one")
    joined, refused = await at_once(
        pair[0].party("ada").call("POST", "/rooms/one/join"),
        pair[1].party("ada").call("POST", "/rooms/two/join"),
    )
    assert (joined.status, refused.body["code"]) == (200, "active_membership_conflict")


async def test_two_have_one_conversation(pair: list[Running]) -> None:
    await pair[0].party("ada").create("a")
    await pair[0].party("bob").create("b")
    replies = await at_once(
        pair[0].party("ada").call("POST", "/conversations", {"with": "bob"}),
        pair[1].party("bob").call("POST", "/conversations", {"with": "ada"}),
    )
    assert [reply.status for reply in replies] == [200, 201]
    assert replies[0].body["conversation"]["id"] == replies[1].body["conversation"]["id"]


async def test_leaving_elsewhere_ends_a_wait(pair: list[Running]) -> None:
    here, there = pair
    await here.party("ada").create("plan")
    waiting = asyncio.create_task(here.party("ada").call("GET", "/rooms/plan/wait"))
    await parked(here)
    await there.party("ada").leave("plan")
    # Even if it is back before anybody has looked.
    await there.party("ada").join("plan")
    assert (await waiting).body["code"] == "active_membership_not_found"


async def test_what_runs_out_ends_once(pair: list[Running]) -> None:
    here, there = pair[0].party("ada"), pair[1].party("bob")
    await here.create("plan")
    await there.join("plan")
    await here.set_status("plan", "reading", 1)
    found = await there.wait("plan", 3, wake_on="expiry", timeout_s=60)
    assert [event["reason"] for event in found["events"]] == ["expired"]
    await here.say("plan", "later")
    assert (await here.log("plan"))[2:] == [
        ("status", "set"), ("status", "expired"), ("message", None)
    ]  # fmt: skip


async def test_a_status_whose_end_was_moved_elsewhere_goes_on(
    connect_arguments: dict[str, Any],
) -> None:
    clock = FakeClock()
    async with together(connect_arguments, clock=clock) as (one, other):
        here, there = one.party("ada"), other.party("ada")
        await here.create("plan")
        await here.set_status("plan", "reading", 60)
        await there.set_status("plan", "reading", 600)
        clock.pass_seconds(100)
        # Decided on what it remembers of the room, which has run out.
        await one.services.journal.execute(*_ends_overdue(one))
        assert await here.log("plan") == [("member", "joined"), ("status", "set")]


def _ends_overdue(daemon: Running) -> tuple[Any, Any]:
    [room] = daemon.services.rooms.loaded()
    return EndOverdue(room.state.id), lambda _, __: Answer(200, b"")


class TestTokens:
    async def test_a_code_is_good_for_one(self, pair: list[Running]) -> None:
        code = (await _offer(pair[0]))["code"]
        one, other = await at_once(
            *(Party(at.daemon, None).call("POST", "/enroll", {"code": code}) for at in pair)
        )
        assert (one.status, other.body["code"]) == (201, "enrollment_invalid")

    async def test_a_token_ends_everywhere(self, pair: list[Running]) -> None:
        here, there = pair
        code = (await _offer(here))["code"]
        token = (await Party(here.daemon, None).ok("POST", "/enroll", {"code": code}))["token"]
        await there.daemon.api.knows_more_people()
        ann = Party(there.daemon, None, _caller(there, token))
        await ann.create("plan")
        waiting = asyncio.create_task(ann.call("GET", "/rooms/plan/wait"))
        await parked(there)
        await Party(here.daemon, None, OPERATOR).ok("DELETE", "/participants/ann/tokens")
        await ann.refused("unauthorized", "GET", "/me")
        assert (await waiting).body["code"] == "unauthorized"

    async def test_offers_and_revocations_at_once(self, pair: list[Running]) -> None:
        replies = await asyncio.gather(*(_offer(at) for at in pair * 3))
        assert len({reply["code"] for reply in replies}) == 6


async def _offer(daemon: Running) -> Json:
    body = {"name": "ann", "kind": "human", "role": "human"}
    return await daemon.operator.ok("POST", "/enrollments", body)


def _caller(daemon: Running, token: str) -> Caller:
    one = daemon.services.people.of_token(token)
    assert one is not None
    assert one.token_hash == secret_hash(token)
    return Caller(one.project, one.kind, one.role, one.name, credential_of(one))
