"""The checker finds what it is there to find: each fault is planted in a history that was good."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from tests.model.checker import (
    HistoryError,
    Json,
    Operation,
    Waited,
    check_acknowledged,
    check_following,
    check_log,
    check_order,
    check_page,
    check_sent,
    check_wait,
    check_woken,
)


def moment(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}.000Z"


def author(name: str) -> Json:
    return {
        "membership_id": f"member_{name}",
        "conversation_id": name,
        "name": name,
        "kind": "agent",
    }


def line(seq: int, event_type: str, reason: str | None, who: str | None, **own: object) -> Json:
    event: Json = {"seq": seq, "type": event_type, "reason": reason, "at": moment(seq)}
    return event | {"author": author(who) if who else None} | own


def message(seq: int, who: str, kind: str = "decision", reply_to: int | None = None) -> Json:
    return line(seq, "message", None, who, kind=kind, body=f"body {seq}", reply_to=reply_to)


def lease(seq: int, reason: str, who: str | None, fence: int, ends: int) -> Json:
    concerned = {} if who else {"participant": author("a")}
    own = {"key": "k", "fence": fence, "expires_at": moment(ends), "proposed_by_seq": None}
    return line(seq, "claim", reason, who, **own, **concerned)


def status(seq: int, reason: str, who: str | None, text: str, since: int, ends: int) -> Json:
    concerned = {} if who else {"participant": author("b")}
    own = {"status": text, "since": moment(since), "expires_at": moment(ends)}
    return line(seq, "status", reason, who, **own, **concerned)


def good_log() -> list[Json]:
    return [
        line(1, "member", "joined", "a"),
        line(2, "member", "joined", "b"),
        message(3, "a", "question"),
        message(4, "b", "answer", reply_to=3),
        lease(5, "claimed", "a", fence=5, ends=8),
        lease(6, "renewed", "a", fence=5, ends=9),
        status(7, "set", "b", "reading", since=7, ends=12),
        line(8, "reaction", "added", "a", message_id=4, reaction="ack"),
        lease(9, "expired", None, fence=5, ends=9),
        lease(10, "claimed", "b", fence=10, ends=30),
        line(11, "reaction", "removed", "a", message_id=4, reaction="ack"),
        status(12, "expired", None, "reading", since=7, ends=12),
        lease(13, "released", "b", fence=10, ends=30),
        status(14, "set", "b", "writing", since=14, ends=40),
        status(15, "left", "b", "writing", since=14, ends=40),
        line(16, "member", "left", "b"),
        message(17, "a"),
    ]


def test_a_good_log_is_good() -> None:
    check_log(good_log())


def test_in_a_conversation_nobody_joins() -> None:
    log = [message(1, "a", "note"), message(2, "b", "note", reply_to=1)]
    check_log(log, conversation=True)
    with pytest.raises(HistoryError, match="not in"):
        check_log(log)


def replaced(seq: int, event: Json) -> Callable[[list[Json]], None]:
    def plant(log: list[Json]) -> None:
        log[seq - 1] = event

    return plant


def changed(seq: int, /, **values: object) -> Callable[[list[Json]], None]:
    def plant(log: list[Json]) -> None:
        log[seq - 1] |= values

    return plant


def removed(seq: int) -> Callable[[list[Json]], None]:
    def plant(log: list[Json]) -> None:
        del log[seq - 1]
        for number, event in enumerate(log, 1):
            event["seq"] = number

    return plant


@pytest.mark.parametrize(
    ("plant", "found"),
    [
        (lambda log: log.pop(3), "event 5 where 4 belongs"),
        (changed(4, seq=3), "event 3 where 4 belongs"),
        (replaced(17, line(17, "member", "joined", "a")), "member joined 17 joins twice"),
        (replaced(17, message(17, "b")), "message 17 is by somebody who is not in"),
        (changed(4, reply_to=5), "replies to 5, which is no message"),
        (changed(3, kind="decision"), "message 4 answers no question"),
        (changed(7, since=moment(6)), "status set 7 begins at another time"),
        (replaced(14, message(14, "b")), "status left 15 ends a status that had ended"),
        (changed(12, reason="extended"), "status extended 12 is no end"),
        (changed(12, status="resting"), "status expired 12 ends another status.*status"),
        (changed(12, since=moment(8)), "status expired 12 ends another status.*since"),
        (changed(12, expires_at=moment(13)), "status expired 12 comes before the end"),
        (changed(8, message_id=1), "reaction added 8 is on 1, which is no message"),
        (changed(8, message_id=17), "reaction added 8 is on 17, which is no message"),
        (changed(8, message_id=3), "reaction added 8 is on one's own"),
        (changed(11, reason="added"), "reaction added 11 adds what is held"),
        (changed(8, reaction="fire"), "reaction removed 11 removes what is not held"),
        (removed(9), "claim claimed 9 grants 'k', which fence 5 holds"),
        (changed(10, fence=9), "claim claimed 10 has a fence of another event"),
        (changed(6, expires_at=moment(7)), "claim renewed 6 shortens the lease"),
        (changed(6, fence=4), "claim renewed 6: fence 5 is held"),
        (changed(6, author=author("b")), "claim renewed 6 is by another holder"),
        (changed(9, expires_at=moment(10)), "claim expired 9 comes before the end"),
        (changed(9, reason="forgotten"), "claim forgotten 9 is no end"),
        (replaced(10, message(10, "b")), "claim released 13 is of 'k', which nobody holds"),
    ],
)
def test_a_fault_in_the_log_is_found(plant: Callable[[list[Json]], None], found: str) -> None:
    log = good_log()
    plant(log)
    with pytest.raises(HistoryError, match=found):
        check_log(log)


def answer_to_posting(*seqs: int) -> Json:
    return {"messages": [copy.deepcopy(good_log()[seq - 1]) for seq in seqs]}


def test_what_was_acknowledged_is_stored() -> None:
    check_acknowledged(good_log(), [answer_to_posting(3), answer_to_posting(4, 17)])


@pytest.mark.parametrize(
    ("field", "value"), [("body", "else"), ("kind", "warning"), ("seq", 18), ("author", None)]
)
def test_what_was_acknowledged_and_is_not_stored_is_found(field: str, value: object) -> None:
    answer = answer_to_posting(4)
    answer["messages"][0][field] = value
    with pytest.raises(HistoryError, match="is not stored as acknowledged"):
        check_acknowledged(good_log(), [answer])


def test_a_message_of_two_calls_is_found() -> None:
    with pytest.raises(HistoryError, match="message 4 was acknowledged to two calls"):
        check_acknowledged(good_log(), [answer_to_posting(3, 4), answer_to_posting(4)])


def test_bodies_are_stored_once_or_never() -> None:
    bodies = ["body 3", "body 4", "body 17"]
    check_sent(good_log(), bodies[:2], [*bodies, "never stored, never answered"])


@pytest.mark.parametrize(
    ("acknowledged", "tried", "found"),
    [
        (["body 5"], ["body 3", "body 4", "body 5", "body 17"], "is stored 0 times"),
        ([], ["body 3", "body 4"], "sent by nobody: .*body 17"),
    ],
)
def test_bodies_that_do_not_match_are_found(
    acknowledged: list[str], tried: list[str], found: str
) -> None:
    with pytest.raises(HistoryError, match=found):
        check_sent(good_log(), acknowledged, tried)


def test_a_body_that_is_stored_twice_is_found() -> None:
    log = good_log()
    log[16]["body"] = "body 4"
    with pytest.raises(HistoryError, match=r"stored more than once: .*body 4"):
        check_sent(log, [], ["body 3", "body 4"])
    with pytest.raises(HistoryError, match="is stored 2 times"):
        check_sent(log, ["body 4"], ["body 3", "body 4"])


def test_numbers_follow_the_order_of_calls() -> None:
    overlapping = [Operation(0, 5, 2), Operation(1, 2, 1), Operation(3, 4, 3), Operation(6, 7, 4)]
    check_order(overlapping)
    with pytest.raises(HistoryError, match="event 1 began after 2 was answered"):
        check_order([Operation(0, 1, 2), Operation(2, 3, 1)])


def answer(after_seq: int, through: int, caller: str, latest: int | None = None) -> Json:
    events = [
        event
        for event in good_log()[after_seq:through]
        if (event["author"] or {}).get("conversation_id") != caller
    ]
    latest = latest or through
    return {
        "events": events,
        "woken_by": [event["seq"] for event in events if event["type"] == "message"],
        "next_after_seq": through,
        "latest_seq": latest,
        "has_more": latest > through,
    }


def test_a_wait_shows_a_run_without_ones_own() -> None:
    check_wait(good_log(), answer(2, 17, "a"), 2, "a")
    check_wait(good_log(), answer(2, 4, "b", latest=17), 2, "b")
    check_wait(good_log(), answer(17, 17, "b"), 17, "b")


@pytest.mark.parametrize(
    ("plant", "found"),
    [
        (lambda wait: wait["events"].pop(1), "showed .4, 9, 10.*, not .4, 7, 9"),
        (lambda wait: wait["events"].insert(0, good_log()[2]), "showed .3, 4, 7"),
        (lambda wait: wait.update(next_after_seq=18), "ends at 18, beyond the latest, 17"),
        (lambda wait: wait.update(latest_seq=18), "a last page ends at 17, not 18"),
        (lambda wait: wait.update(woken_by=[3]), "woken by 3"),
        (lambda wait: wait.update(woken_by=[2]), "woken by 2"),
        (lambda wait: wait.update(woken_by=[9, 4]), "not the first ten"),
    ],
)
def test_a_wait_that_shows_something_else_is_found(
    plant: Callable[[Json], object], found: str
) -> None:
    wrong = answer(2, 17, "a")
    plant(wrong)
    with pytest.raises(HistoryError, match=found):
        check_wait(good_log(), wrong, 2, "a")


def test_following_shows_each_event_once() -> None:
    first, second = Waited(2, answer(2, 4, "b", latest=17)), Waited(4, answer(4, 17, "b"))
    check_following(good_log(), [first, second], "b")
    check_following(good_log(), [], "b")
    with pytest.raises(HistoryError, match="a wait after 5, not 4"):
        check_following(good_log(), [first, Waited(5, answer(5, 17, "b"))], "b")


@pytest.mark.parametrize(
    ("plant", "found"),
    [
        (lambda wait: wait.update(reason="timeout"), "ended by timeout, with .4, 9"),
        (lambda wait: wait.update(woken_by=[9, 17]), "names .9, 17. and not .4, 9"),
        (lambda wait: wait.update(latest_seq=4), "names .4, 9, .* and not .4."),
    ],
)
def test_a_wait_that_ended_for_another_reason_is_found(
    plant: Callable[[Json], object], found: str
) -> None:
    wait = answer(2, 17, "a") | {"reason": "event", "woken_by": [4, 9, 10, 13]}
    kinds = ("message", "claim")
    check_woken(good_log(), [Waited(2, wait)], "a", kinds)
    check_woken(good_log(), [Waited(2, answer(4, 8, "b") | {"reason": "timeout"})], "b", ())
    plant(wait)
    with pytest.raises(HistoryError, match=found):
        check_woken(good_log(), [Waited(2, wait)], "a", kinds)


def test_a_page_is_a_part_of_the_log() -> None:
    page = {"events": good_log()[3:6], "next_after_seq": 6, "latest_seq": 17, "has_more": True}
    check_page(good_log(), page, 3)
    with pytest.raises(HistoryError, match="the page after 2 is not the log's"):
        check_page(good_log(), page, 2)
