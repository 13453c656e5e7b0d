from __future__ import annotations

import pytest

from coordroomsd.domain.claims import ClaimKey, EndOverdue, Release
from coordroomsd.domain.commands import Needs
from coordroomsd.domain.events import Lease, author_wire
from coordroomsd.domain.members import Leave
from coordroomsd.domain.rooms import Claim, Room
from coordroomsd.domain.text import instant
from tests.unit.domain.worlds import START, World, agent, refused, second

ADA, BOB = agent("ada"), agent("bob")
KEY = "the-draft"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def room_id(world: World) -> int:
    """Ada and Bob are in it; its head is 2."""
    return world.make_room("plan", ADA, BOB)


def holder(world: World, room_id: int) -> str | None:
    claim = world.rooms[room_id].claims.get(KEY)
    return claim.holder.conversation_id if claim else None


class TestClaiming:
    def test_the_fence_is_the_number_of_the_grant(self, world: World, room_id: int) -> None:
        claimed = world.do(ClaimKey(ADA, room_id, KEY, 60))
        author = world.member(ADA, room_id).author
        assert claimed.claim == Claim(KEY, author, START, second(60), 3, None)
        assert not claimed.renewed
        assert world.last(room_id).payload == Lease(KEY, 3, second(60), None)
        assert world.spent == [("claim", "ada", 1, room_id)]

    def test_another_s_claim_names_holder_and_end(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        with refused(
            "claim_conflict",
            holder=author_wire(world.member(ADA, room_id).author),
            expires_at=instant(second(60)),
            fence=3,
            room="plan",
        ):
            world.do(ClaimKey(BOB, room_id, KEY, 60))

    def test_a_conflict_costs_and_comes_after_the_bucket(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        world.spent.clear()
        with refused("claim_conflict"):
            world.do(ClaimKey(BOB, room_id, KEY, 60))
        assert world.spent == [("claim", "bob", 1, room_id)]
        world.empty_buckets.add("claim")
        with refused("rate_limited"):
            world.do(ClaimKey(BOB, room_id, KEY, 60))

    def test_keys_are_apart(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        assert world.do(ClaimKey(BOB, room_id, "other", 60)).claim.fence == 4

    def test_a_proposal_must_exist(self, world: World, room_id: int) -> None:
        for number in (1, 3, 99):
            with refused("message_not_found"):
                world.do(ClaimKey(ADA, room_id, KEY, 60, proposed_by_seq=number))
        assert world.spent == []
        [proposal] = world.say(BOB, room_id)
        claimed = world.do(ClaimKey(ADA, room_id, KEY, 60, proposed_by_seq=proposal))
        assert claimed.claim.proposed_by_seq == proposal

    def test_what_it_needs(self) -> None:
        assert ClaimKey(ADA, 1, KEY, 60).needs() == Needs(room_id=1, actor=ADA)
        assert ClaimKey(ADA, 1, KEY, 60, 7).needs().messages == (7,)

    def test_only_an_active_member_claims(self, world: World, room_id: int) -> None:
        with refused("membership_not_found"):
            world.do(ClaimKey(agent("eve"), room_id, KEY, 60))
        world.do(Leave(BOB, room_id))
        with refused("active_membership_not_found"):
            world.do(ClaimKey(BOB, room_id, KEY, 60))

    def test_a_conversation_has_no_claims(self, world: World) -> None:
        world.rooms[9] = Room(9, "default", "peer", None, None, START)
        with refused("forbidden"):
            world.do(ClaimKey(ADA, 9, KEY, 60))
        with refused("forbidden"):
            world.do(Release(ADA, 9, KEY))


class TestRenewing:
    def test_it_keeps_the_fence_and_moves_the_end(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        world.pass_seconds(30)
        renewed = world.do(ClaimKey(ADA, room_id, KEY, 60))
        assert renewed.renewed
        assert (renewed.claim.fence, renewed.claim.since) == (3, START)
        assert renewed.claim.expires_at == second(90)
        assert world.last(room_id).reason == "renewed"

    def test_the_end_never_moves_back(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 600))
        assert world.do(ClaimKey(ADA, room_id, KEY, 60)).claim.expires_at == second(600)

    def test_the_proposal_is_kept_unless_given(self, world: World, room_id: int) -> None:
        one, other = world.say(BOB, room_id)[0], world.say(BOB, room_id)[0]
        world.do(ClaimKey(ADA, room_id, KEY, 60, one))
        assert world.do(ClaimKey(ADA, room_id, KEY, 60)).claim.proposed_by_seq == one
        assert world.do(ClaimKey(ADA, room_id, KEY, 60, other)).claim.proposed_by_seq == other

    def test_with_a_fence_it_only_ever_renews(self, world: World, room_id: int) -> None:
        with refused("not_claim_holder", holder=None, expires_at=None, room="plan"):
            world.do(ClaimKey(ADA, room_id, KEY, 60, fence=3))
        assert holder(world, room_id) is None
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        assert world.do(ClaimKey(ADA, room_id, KEY, 60, fence=3)).renewed

    def test_a_fence_of_an_earlier_lease_is_stale(self, world: World, room_id: int) -> None:
        stale = world.do(ClaimKey(ADA, room_id, KEY, 60)).claim.fence
        world.pass_seconds(60)
        fresh = world.do(ClaimKey(ADA, room_id, KEY, 60)).claim
        assert fresh.fence > stale
        with refused("not_claim_holder", expires_at=instant(fresh.expires_at)):
            world.do(ClaimKey(ADA, room_id, KEY, 60, fence=stale))

    def test_another_s_fence_does_not_help(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        with refused("not_claim_holder", holder=author_wire(world.member(ADA, room_id).author)):
            world.do(ClaimKey(BOB, room_id, KEY, 60, fence=3))

    def test_a_lease_that_ran_out_is_not_renewed(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        world.pass_seconds(60)
        with refused("not_claim_holder", holder=None):
            world.do(ClaimKey(ADA, room_id, KEY, 60, fence=3))
        again = world.do(ClaimKey(ADA, room_id, KEY, 60))
        assert not again.renewed
        assert again.claim.fence == 5
        assert world.lines(room_id)[2:] == [
            (3, "claim", "claimed"),
            (4, "claim", "expired"),
            (5, "claim", "claimed"),
        ]


class TestRunningOut:
    def test_it_is_free_the_moment_it_ends_at_whatever_call_comes(
        self, world: World, room_id: int
    ) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        world.pass_seconds(59.999)
        with refused("claim_conflict"):
            world.do(ClaimKey(BOB, room_id, KEY, 60))
        world.pass_seconds(0.001)
        taken = world.do(ClaimKey(BOB, room_id, KEY, 60))
        assert taken.claim.fence == 5
        expired = world.logs[room_id][3]
        assert (expired.reason, expired.by_daemon) == ("expired", True)
        assert expired.who.conversation_id == "ada"

    def test_the_clock_ends_it_once(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        world.pass_seconds(60)
        world.do(EndOverdue(room_id))
        world.do(EndOverdue(room_id))
        assert world.lines(room_id)[3:] == [(4, "claim", "expired")]

    def test_the_clock_needs_the_room_alone(self) -> None:
        assert EndOverdue(7).needs() == Needs(room_id=7)


class TestReleasing:
    def test_the_holder_gives_it_back_for_nothing(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        world.spent.clear()
        assert world.do(Release(ADA, room_id, KEY, fence=3)).released
        assert holder(world, room_id) is None
        assert world.last(room_id).reason == "released"
        assert world.spent == []

    def test_nobody_s_is_not_released(self, world: World, room_id: int) -> None:
        assert not world.do(Release(ADA, room_id, KEY)).released
        assert world.rooms[room_id].head == 2

    def test_another_s_is_refused(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        with refused(
            "not_claim_holder",
            holder=author_wire(world.member(ADA, room_id).author),
            expires_at=instant(second(60)),
        ):
            world.do(Release(BOB, room_id, KEY))
        assert holder(world, room_id) == "ada"

    def test_a_late_release_by_an_old_holder_is_refused(self, world: World, room_id: int) -> None:
        stale = world.do(ClaimKey(ADA, room_id, KEY, 60)).claim.fence
        world.pass_seconds(60)
        world.do(ClaimKey(BOB, room_id, KEY, 60))
        for fence in (None, stale):
            with refused("not_claim_holder"):
                world.do(Release(ADA, room_id, KEY, fence))
        assert holder(world, room_id) == "bob"

    def test_one_s_own_stale_fence_is_refused(self, world: World, room_id: int) -> None:
        stale = world.do(ClaimKey(ADA, room_id, KEY, 60)).claim.fence
        world.do(Release(ADA, room_id, KEY))
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        with refused("not_claim_holder"):
            world.do(Release(ADA, room_id, KEY, stale))
        world.do(Release(ADA, room_id, KEY))
        with refused("not_claim_holder", holder=None, expires_at=None):
            world.do(Release(ADA, room_id, KEY, stale))

    def test_what_ran_out_is_not_released_but_ends(self, world: World, room_id: int) -> None:
        world.do(ClaimKey(ADA, room_id, KEY, 60))
        world.pass_seconds(60)
        assert not world.do(Release(ADA, room_id, KEY)).released
        assert world.lines(room_id)[3:] == [(4, "claim", "expired")]


def test_fences_rise_and_one_holds_at_a_time(world: World, room_id: int) -> None:
    fences = []
    for actor in (ADA, BOB, ADA):
        fences.append(world.do(ClaimKey(actor, room_id, KEY, 60)).claim.fence)
        world.pass_seconds(60)
    assert fences == sorted(set(fences))
