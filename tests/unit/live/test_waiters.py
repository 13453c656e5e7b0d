from __future__ import annotations

import asyncio

import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.events import Event, EventType, Lease, Message, Payload, StatusLine
from coordroomsd.domain.participants import Author
from coordroomsd.domain.wake import Interest, interest
from coordroomsd.live.waiters import Hub, RoomWaiters, Waiter
from tests.clocks import START

ADA, BOB, EVE = (Author(number, name, name, "agent") for number, name in enumerate("abe", 1))
MESSAGES = interest(["message"])


def happens(
    who: Author, event_type: EventType, reason: str | None = None, payload: Payload = None
) -> Event:
    return Event(9, event_type, reason, START, who, reason == "expired", payload)


def message(who: Author, reply_to: int | None = None) -> Event:
    return happens(who, "message", None, Message("note", "x", reply_to))


def claim(reason: str, key: str = "k") -> Event:
    return happens(BOB, "claim", reason, Lease(key, 1, START, None))


def is_woken(waiter: Waiter) -> bool:
    """Whether it would not sleep if it parked now."""
    return waiter._future.done()


class TestWaiter:
    async def test_it_sleeps_until_it_is_woken(self) -> None:
        waiter = Waiter()
        parked = asyncio.create_task(waiter.parked())
        await asyncio.sleep(0)
        assert not parked.done()
        waiter.wake()
        await parked

    async def test_a_wake_up_before_it_parks_is_not_lost(self) -> None:
        waiter = Waiter()
        waiter.rearm()
        waiter.wake()
        await waiter.parked()

    async def test_rearming_forgets_earlier_wake_ups_only(self) -> None:
        waiter = Waiter()
        waiter.wake()
        waiter.rearm()
        assert not is_woken(waiter)
        waiter.wake()
        waiter.wake()
        await waiter.parked()

    async def test_when_its_time_is_up_it_never_sleeps_again(self) -> None:
        waiter = Waiter()
        waiter.expire()
        assert waiter.timed_out
        waiter.rearm()
        await waiter.parked()

    async def test_what_ends_it_is_raised_where_it_stands(self) -> None:
        refusal = Refusal("unauthorized", "Revoked.")
        parked, about_to_park, looking = Waiter(), Waiter(), Waiter()
        sleeping = asyncio.create_task(parked.parked())
        await asyncio.sleep(0)
        for waiter in (parked, about_to_park, looking):
            waiter.end(refusal)
            waiter.end(Refusal("forbidden", "Too late to be the reason."))
        with pytest.raises(Refusal, match="unauthorized"):
            await sleeping
        with pytest.raises(Refusal, match="unauthorized"):
            await about_to_park.parked()
        with pytest.raises(Refusal, match="unauthorized"):
            looking.rearm()


class Room:
    """Waiters of a room by name, and who of them was woken."""

    def __init__(self) -> None:
        self.waiters = RoomWaiters()
        self.added: dict[str, tuple[Waiter, Interest]] = {}

    def wait(self, name: str, who: Author, asked: Interest = MESSAGES) -> Waiter:
        waiter = Waiter()
        self.waiters.add(waiter, asked, who.membership_id)
        self.added[name] = (waiter, asked)
        return waiter

    def woken_by(self, *events: Event) -> set[str]:
        self.waiters.wake(events)
        woken = {name for name, (waiter, _) in self.added.items() if is_woken(waiter)}
        for waiter, _ in self.added.values():
            waiter.rearm()
        return woken


class TestRoomWaiters:
    async def test_others_messages_wake_and_one_s_own_do_not(self) -> None:
        room = Room()
        room.wait("ada", ADA)
        room.wait("bob", BOB)
        assert room.woken_by(message(ADA)) == {"bob"}
        assert room.woken_by(message(BOB)) == {"ada"}
        assert room.woken_by(message(EVE)) == {"ada", "bob"}

    async def test_a_batch_of_several_authors_wakes_them_all(self) -> None:
        room = Room()
        room.wait("ada", ADA)
        room.wait("bob", BOB)
        assert room.woken_by(message(ADA), message(BOB)) == {"ada", "bob"}
        assert room.woken_by(message(ADA), message(ADA)) == {"bob"}

    async def test_only_events_that_were_asked_for_count(self) -> None:
        room = Room()
        room.wait("ada", ADA)
        room.wait("bob", BOB, interest(["member"]))
        joined = happens(EVE, "member", "joined")
        assert room.woken_by(joined) == {"bob"}
        assert room.woken_by(message(ADA), joined) == {"bob"}
        assert room.woken_by(happens(EVE, "reaction", "added")) == set()
        assert room.woken_by() == set()

    async def test_what_the_daemon_does_wakes_everyone_who_asked(self) -> None:
        room = Room()
        for name, who in (("ada", ADA), ("bob", BOB)):
            room.wait(name, who, interest(["expiry"]))
            room.wait(f"{name}'s other", who, interest(["status"]))
        room.wait("ada's third", ADA, interest(["claim"]))
        expired = happens(ADA, "status", "expired", StatusLine("x", START, START))
        assert room.woken_by(expired) == {"ada", "ada's other", "bob", "bob's other"}

    async def test_an_answer_wakes_who_waits_for_it(self) -> None:
        room = Room()
        room.wait("ada", ADA, interest(["answer:4"]))
        room.wait("bob", BOB, interest(["answer:5"]))
        assert room.woken_by(message(BOB, reply_to=4)) == {"ada"}
        assert room.woken_by(message(EVE)) == set()
        assert room.woken_by(message(ADA, reply_to=4)) == set()

    @pytest.mark.parametrize("reason", ["released", "expired", "left"])
    async def test_a_claim_that_ends_wakes_who_waits_for_its_key(self, reason: str) -> None:
        """Also its own holder's: that nobody holds it is a state, and not the holder's event."""
        room = Room()
        room.wait("ada", ADA, interest(["free:k"]))
        room.wait("bob", BOB, interest(["free:k"]))
        room.wait("eve", EVE, interest(["free:other"]))
        assert room.woken_by(claim(reason)) == {"ada", "bob"}

    @pytest.mark.parametrize("reason", ["claimed", "renewed"])
    async def test_a_claim_that_is_held_wakes_nobody_who_waits_for_its_key(
        self, reason: str
    ) -> None:
        room = Room()
        room.wait("ada", ADA, interest(["free:k"]))
        assert room.woken_by(claim(reason)) == set()

    async def test_streams_are_woken_by_everything(self) -> None:
        room = Room()
        stream = Waiter()
        room.waiters.add_stream(stream, ADA.membership_id)
        room.waiters.wake([happens(ADA, "reaction", "added")])
        assert is_woken(stream)
        room.waiters.discard_stream(stream)
        room.waiters.discard_stream(stream)
        stream.rearm()
        room.waiters.wake([message(BOB)])
        assert not is_woken(stream)

    async def test_who_leaves_waits_no_longer(self) -> None:
        room = Room()
        stream = Waiter()
        room.waiters.add_stream(stream, ADA.membership_id)
        own = [room.wait("ada", ADA), room.wait("ada too", ADA, interest(["claim"])), stream]
        others = room.wait("bob", BOB)
        room.waiters.end(ADA.membership_id, Refusal("active_membership_not_found", "Left."))
        for waiter in own:
            with pytest.raises(Refusal, match="active_membership_not_found"):
                await waiter.parked()
        assert not is_woken(others)

    async def test_whether_a_member_waits_is_known(self) -> None:
        room = Room()
        one, other = room.wait("one", ADA), room.wait("other", ADA, interest(["claim"]))
        room.waiters.add_stream(Waiter(), BOB.membership_id)
        assert room.waiters.is_waiting(ADA.membership_id)
        assert not room.waiters.is_waiting(BOB.membership_id)
        room.waiters.discard(one, MESSAGES)
        assert room.waiters.is_waiting(ADA.membership_id)
        room.waiters.discard(other, interest(["claim"]))
        assert not room.waiters.is_waiting(ADA.membership_id)
        assert len(room.waiters) == 1

    async def test_nothing_is_left_of_who_went_away(self) -> None:
        room = Room()
        kinds = [MESSAGES, interest(["claim"]), interest(["free:k"])]
        waiters = [
            (room.wait(f"{number}", ADA, kinds[number % 3]), kinds[number % 3])
            for number in range(99)
        ]
        assert len(room.waiters) == 99
        for waiter, asked in waiters:
            room.waiters.discard(waiter, asked)
        assert len(room.waiters) == 0
        assert not room.waiters._groups


class TestHub:
    async def test_it_counts_waits_and_streams_apart(self) -> None:
        hub = Hub(10)
        wait, stream = Waiter(), Waiter()
        hub.register(wait)
        hub.register(stream, stream=True)
        assert hub.statistics() == (1, 1)
        hub.discard(wait)
        hub.discard(wait)
        hub.discard(stream)
        assert hub.statistics() == (0, 0)

    async def test_beyond_the_limit_it_refuses(self) -> None:
        hub = Hub(2)
        wait = Waiter()
        hub.register(wait)
        hub.register(Waiter(), stream=True)
        for stream in (False, True):
            with pytest.raises(Refusal) as caught:
                hub.register(Waiter(), stream=stream)
            assert caught.value.code == "too_many_waiters"
        hub.discard(wait)
        hub.register(Waiter())

    async def test_one_participant_has_a_part_of_them(self) -> None:
        hub = Hub(10, max_of_one=2)
        waits = [Waiter("a user", owner="ada") for _ in range(3)]
        hub.register(waits[0])
        hub.register(waits[1], stream=True)
        with pytest.raises(Refusal) as caught:
            hub.register(waits[2])
        assert caught.value.code == "too_many_waiters"
        # The same user's other agents are not concerned; one without a name is its credential.
        hub.register(Waiter("a user", owner="bob"))
        hub.register(Waiter("a user"))
        hub.discard(waits[1])
        hub.discard(waits[1])
        hub.register(waits[2])

    async def test_closing_wakes_everybody(self) -> None:
        hub = Hub(10)
        waiters = [Waiter() for _ in range(4)]
        for number, waiter in enumerate(waiters):
            hub.register(waiter, stream=number % 2 == 1)
        assert not hub.closing
        hub.close()
        assert hub.closing
        assert all(map(is_woken, waiters))

    async def test_revoking_ends_what_came_in_under_that_credential(self) -> None:
        hub = Hub(10)
        ada, ada_streams, bob, nobody = (Waiter(name) for name in ("ada", "ada", "bob", None))
        for waiter in (ada, bob, nobody):
            hub.register(waiter)
        hub.register(ada_streams, stream=True)
        hub.revoke("ada", Refusal("unauthorized", "Revoked."))
        for waiter in (ada, ada_streams):
            with pytest.raises(Refusal, match="unauthorized"):
                await waiter.parked()
        assert not is_woken(bob)
        assert not is_woken(nobody)

    async def test_ending_a_session_ends_its_own_calls_alone(self) -> None:
        hub = Hub(10)
        here, there, command = Waiter("ada", session=1), Waiter("ada", session=2), Waiter("ada")
        for waiter in (here, there, command):
            hub.register(waiter)
        hub.revoke(1, Refusal("unauthorized", "Signed out."))
        with pytest.raises(Refusal, match="unauthorized"):
            await here.parked()
        assert not is_woken(there)
        assert not is_woken(command)
        with pytest.raises(Refusal, match="unauthorized"):
            hub.register(Waiter("ada", session=1))

    async def test_what_comes_in_under_a_revoked_credential_is_refused(self) -> None:
        hub = Hub(10)
        hub.revoke("ada", Refusal("unauthorized", "Revoked."))
        for stream in (False, True):
            with pytest.raises(Refusal, match="unauthorized"):
                hub.register(Waiter("ada"), stream=stream)
        hub.register(Waiter("bob"))
        assert hub.statistics() == (1, 0)


async def test_all_may_be_woken_to_look_again() -> None:
    waiters = RoomWaiters()
    waiter, stream = Waiter(), Waiter()
    waiters.add(waiter, MESSAGES, ADA.membership_id)
    waiters.add_stream(stream, BOB.membership_id)
    waiters.wake_all()
    assert is_woken(waiter)
    assert is_woken(stream)


async def test_who_waits_elsewhere_waits_too_but_is_not_told_of_as_here() -> None:
    waiters = RoomWaiters()
    waiters.add(Waiter(), MESSAGES, ADA.membership_id)
    waiters.elsewhere = frozenset({BOB.membership_id})
    assert waiters.is_waiting(ADA.membership_id)
    assert waiters.is_waiting(BOB.membership_id)
    assert waiters.waiting_here() == {ADA.membership_id}
