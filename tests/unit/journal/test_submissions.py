from __future__ import annotations

import pytest

from coordroomsd.domain.commands import Command, Decision
from coordroomsd.domain.commands import Draft as MessageDraft
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.members import CreateRoom
from coordroomsd.domain.messages import Post
from coordroomsd.domain.participants import Actor
from coordroomsd.journal.draft import Draft
from coordroomsd.journal.submissions import Answer, KeyedCall, Submission
from coordroomsd.store.rows import KeptAnswer, Key
from tests.unit.journal.drafts import ADA, EVE, ROOM, Committed


@pytest.fixture
def draft() -> Draft:
    return Committed().draft()


def respond(decision: Decision, _: Draft) -> Answer:
    assert decision.room
    return Answer(201, b"%d" % decision.room.head)


def keyed(actor: Actor = ADA, key: str = "one", content: bytes = b"a") -> KeyedCall:
    return KeyedCall(actor, ROOM, "postMessages", key, content)


def submission(call: KeyedCall | None = None, command: Command | None = None) -> Submission:
    post = Post(ADA, ROOM, (MessageDraft("decision", "hello"),))
    return Submission(command or post, respond, call)


async def outcome(one: Submission) -> Answer:
    one.settle()
    return await one.future


async def test_the_caller_hears_nothing_before_it_is_settled(draft: Draft) -> None:
    one = submission()
    one.decide(draft, {})
    assert not one.future.done()
    assert await outcome(one) == Answer(201, b"3")


async def test_an_answer_is_kept_under_its_key(draft: Draft) -> None:
    one = submission(keyed())
    one.decide(draft, {})
    assert draft.answers == {Key(ROOM, 11, "postMessages", "one"): KeptAnswer(b"a", 201, b"3")}


async def test_the_same_key_in_one_batch_is_answered_once(draft: Draft) -> None:
    first, second, other = submission(keyed()), submission(keyed()), submission(keyed(key="two"))
    for one in (first, second, other):
        one.decide(draft, {})
    assert await outcome(first) == Answer(201, b"3")
    assert await outcome(second) == Answer(201, b"3", replayed=True)
    assert await outcome(other) == Answer(201, b"4")


async def test_other_content_under_the_same_key_is_refused(draft: Draft) -> None:
    first, other = submission(keyed()), submission(keyed(content=b"b"))
    for one in (first, other):
        one.decide(draft, {})
    with pytest.raises(Refusal, match="idempotency_key_reused"):
        await outcome(other)
    assert draft.room(ROOM).head == 3


async def test_a_kept_answer_is_repeated(draft: Draft) -> None:
    kept = {Key(ROOM, 11, "postMessages", "one"): KeptAnswer(b"a", 201, b"then")}
    one = submission(keyed())
    one.decide(draft, kept)
    assert await outcome(one) == Answer(201, b"then", replayed=True)
    assert not draft.rows()


@pytest.mark.parametrize(
    "key",
    [
        Key(ROOM, 12, "postMessages", "one"),
        Key(ROOM + 1, 11, "postMessages", "one"),
        Key(ROOM, 11, "claim", "one"),
        Key(ROOM, 11, "postMessages", "two"),
    ],
    ids=["another's", "another room's", "another call's", "another"],
)
async def test_a_key_counts_in_its_scope_only(draft: Draft, key: Key) -> None:
    one = submission(keyed())
    one.decide(draft, {key: KeptAnswer(b"a", 201, b"then")})
    assert await outcome(one) == Answer(201, b"3")


async def test_a_refusal_is_the_outcome_and_is_not_kept(draft: Draft) -> None:
    post = Post(ADA, ROOM, (MessageDraft("answer", "x", 99),))
    one = submission(keyed(), post)
    one.decide(draft, {})
    with pytest.raises(Refusal, match="reply_target_invalid"):
        await outcome(one)
    assert draft.answers == {}


async def test_deciding_again_forgets_the_outcome_before(draft: Draft) -> None:
    one = submission()
    one.fault = Refusal("store_unavailable", "Away.")
    one.decide(draft, {})
    assert await outcome(one) == Answer(201, b"3")


async def test_the_key_of_a_participant_s_first_call_is_kept(draft: Draft) -> None:
    create = CreateRoom(EVE, "other")
    first, second = submission(keyed(EVE), create), submission(keyed(EVE), create)
    first.decide(draft, {})
    second.decide(draft, {})
    assert await outcome(first) == Answer(201, b"1")
    assert await outcome(second) == Answer(201, b"1", replayed=True)


async def test_whoever_gave_up_is_not_told(draft: Draft) -> None:
    one = submission()
    one.decide(draft, {})
    one.future.cancel()
    one.settle()
    one.fail(Refusal("store_unavailable", "Away."))
    assert one.future.cancelled()


async def test_a_failure_takes_the_answer_s_place(draft: Draft) -> None:
    one = submission()
    one.decide(draft, {})
    one.fail(Refusal("store_unavailable", "Away."))
    with pytest.raises(Refusal, match="store_unavailable"):
        await one.future


async def test_a_bug_in_a_rule_is_raised(draft: Draft) -> None:
    def fail(*_: object) -> Answer:
        raise ZeroDivisionError

    one = Submission(Post(ADA, ROOM, ()), fail, None)
    with pytest.raises(ZeroDivisionError):
        one.decide(draft, {})
