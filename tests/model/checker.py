"""Checks a history: what callers were told, against a room's log as it stands in the end.

Everything is as on the wire: a log is the list of all events that `/events` shows, from number 1
on. Each check raises HistoryError, which names the first thing that cannot have happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Json = dict[str, Any]
Log = Sequence[Json]

_LEASE_ENDS = ("released", "expired", "left")
_STATUS_ENDS = ("cleared", "expired", "left")
_PROTOCOL = ("ack", "agree", "decline")


class HistoryError(AssertionError):
    """The history contradicts itself or the contract."""


def check_log(log: Log, *, conversation: bool = False) -> None:
    """All that a room's whole log has to keep to. A conversation's members never join or leave."""
    check_numbers(log)
    if not conversation:
        check_members(log)
    check_messages(log)
    check_statuses(log)
    check_reactions(log)
    check_leases(log)


def check_numbers(log: Log, first_seq: int = 1) -> None:
    """The numbers count from `first_seq` on without a gap."""
    for expected, event in enumerate(log, first_seq):
        _demand(event["seq"] == expected, f"event {event['seq']} where {expected} belongs")


def check_members(log: Log) -> None:
    """Members join and leave in turn, and whoever acts is in."""
    inside: set[str] = set()
    for event in log:
        if event["author"] is None:
            continue
        who = event["author"]["membership_id"]
        if (event["type"], event["reason"]) == ("member", "joined"):
            _demand(who not in inside, f"{_name(event)} joins twice")
            inside.add(who)
            continue
        _demand(who in inside, f"{_name(event)} is by somebody who is not in")
        if event["type"] == "member":
            inside.discard(who)


def check_messages(log: Log) -> None:
    """An answer's target is an earlier question, and any target an earlier message."""
    kinds: dict[int, str] = {}
    for event in log:
        if event["type"] != "message":
            continue
        target = event["reply_to"]
        if target is not None:
            _demand(target in kinds, f"{_name(event)} replies to {target}, which is no message")
        if event["kind"] == "answer":
            _demand(kinds.get(target) == "question", f"{_name(event)} answers no question")
        kinds[event["seq"]] = event["kind"]


def check_statuses(log: Log) -> None:
    """A status ends once, as what it began as; none runs out before its time."""
    held: dict[str, Json] = {}
    for event in log:
        if event["type"] != "status":
            continue
        who = _concerned(event)["membership_id"]
        if event["reason"] == "set":
            _demand(event["since"] == event["at"], f"{_name(event)} begins at another time")
            held[who] = event
            continue
        _demand(event["reason"] in _STATUS_ENDS, f"{_name(event)} is no end")
        began = held.pop(who, None)
        _demand(began is not None, f"{_name(event)} ends a status that had ended")
        for field in ("status", "since"):
            _demand(
                began is not None and began[field] == event[field],
                f"{_name(event)} ends another status than the one that was held: {field}",
            )
        _demand_not_early(event)


def check_reactions(log: Log) -> None:
    """Each is added, then removed, on a message; none of the protocol's on one's own."""
    messages = {event["seq"]: event for event in log if event["type"] == "message"}
    held: set[tuple[int, str, str]] = set()
    for event in log:
        if event["type"] != "reaction":
            continue
        who = event["author"]["membership_id"]
        message = messages.get(event["message_id"])
        _demand(
            message is not None and message["seq"] < event["seq"],
            f"{_name(event)} is on {event['message_id']}, which is no message",
        )
        key = (event["message_id"], who, event["reaction"])
        if event["reason"] == "removed":
            _demand(key in held, f"{_name(event)} removes what is not held")
            held.discard(key)
            continue
        _demand(key not in held, f"{_name(event)} adds what is held")
        own = message is not None and message["author"]["membership_id"] == who
        _demand(not own or event["reaction"] not in _PROTOCOL, f"{_name(event)} is on one's own")
        held.add(key)


def check_leases(log: Log) -> None:
    """At any number at most one holds a key, under the fence that is the grant's number."""
    held: dict[str, Json] = {}
    for event in log:
        if event["type"] != "claim":
            continue
        key, before = event["key"], held.get(event["key"])
        if event["reason"] == "claimed":
            _demand(before is None, f"{_name(event)} grants {key!r}, which {_fence(before)} holds")
            _demand(event["fence"] == event["seq"], f"{_name(event)} has a fence of another event")
            held[key] = event
            continue
        _demand(before is not None, f"{_name(event)} is of {key!r}, which nobody holds")
        if before is None:
            continue
        _demand(before["fence"] == event["fence"], f"{_name(event)}: {_fence(before)} is held")
        _demand(_concerned(before) == _concerned(event), f"{_name(event)} is by another holder")
        if event["reason"] == "renewed":
            _demand(
                event["expires_at"] >= before["expires_at"], f"{_name(event)} shortens the lease"
            )
            held[key] = event
            continue
        _demand(event["reason"] in _LEASE_ENDS, f"{_name(event)} is no end")
        _demand_not_early(event)
        del held[key]


def check_acknowledged(log: Log, answers: Iterable[Json]) -> None:
    """Each message of an answer to a post is in the log as it was acknowledged.

    One answer for each call: two that name one number are two calls that share a message.
    """
    by_seq = {event["seq"]: event for event in log}
    seen: set[int] = set()
    for answer in answers:
        for message in answer["messages"]:
            seq = message["seq"]
            _demand(seq not in seen, f"message {seq} was acknowledged to two calls")
            seen.add(seq)
            stored = by_seq.get(seq, {})
            for field in ("kind", "body", "reply_to", "at", "author"):
                _demand(
                    stored.get(field) == message[field],
                    f"message {seq} is not stored as acknowledged: {field}",
                )


def check_sent(log: Log, acknowledged: Iterable[str], tried: Iterable[str]) -> None:
    """Bodies, each sent by one call only, are stored once if acknowledged, else once or never."""
    stored = Counter(event["body"] for event in log if event["type"] == "message")
    for body in acknowledged:
        _demand(stored[body] == 1, f"{body!r} was acknowledged and is stored {stored[body]} times")
    unknown = set(stored) - set(tried)
    _demand(not unknown, f"stored, but sent by nobody: {sorted(unknown)[:3]}")
    repeated = [body for body, times in stored.items() if times > 1]
    _demand(not repeated, f"stored more than once: {repeated[:3]}")


class Operation(NamedTuple):
    """A call that stored event `seq`; when it was begun and when answered, on one clock."""

    began: float
    answered: float
    seq: int


def check_order(operations: Iterable[Operation]) -> None:
    """What was answered before another call began has the lower number."""
    by_beginning = sorted(operations)
    by_answer = sorted(by_beginning, key=lambda operation: operation.answered)
    highest = done = 0
    for operation in by_beginning:
        while done < len(by_answer) and by_answer[done].answered < operation.began:
            highest = max(highest, by_answer[done].seq)
            done += 1
        _demand(
            operation.seq > highest,
            f"event {operation.seq} began after {highest} was answered, and is numbered before it",
        )


def check_page(log: Log, page: Json, after_seq: int) -> None:
    """A page of events is what the log has after `after_seq`, from there to the page's end."""
    expected = [e for e in log if after_seq < e["seq"] <= page["next_after_seq"]]
    _demand(page["events"] == expected, f"the page after {after_seq} is not the log's")
    _check_end(page)


def check_wait(log: Log, answer: Json, after_seq: int, conversation_id: str) -> None:
    """The events are a contiguous run of the log after `after_seq`, without the caller's own."""
    through = answer["next_after_seq"]
    run = _others(log, after_seq, through, conversation_id)
    _demand(
        answer["events"] == run,
        f"a wait after {after_seq} showed {_numbers(answer['events'])}, not {_numbers(run)}",
    )
    _check_end(answer)
    later = _others(log, after_seq, answer["latest_seq"], conversation_id)
    for seq in answer["woken_by"]:
        _demand(seq in _numbers(later), f"a wait after {after_seq} was woken by {seq}")
    _demand(answer["woken_by"] == sorted(answer["woken_by"])[:10], "woken_by is not the first ten")


@dataclass(frozen=True, slots=True)
class Waited:
    """One wait's answer, and the number that it was asked with."""

    after_seq: int
    answer: Json


def check_following(log: Log, waits: Sequence[Waited], conversation_id: str) -> None:
    """Waits that each carried on from the last saw all of the others' events once and in order."""
    if not waits:
        return
    carried = waits[0].after_seq
    shown: list[Json] = []
    for waited in waits:
        _demand(waited.after_seq == carried, f"a wait after {waited.after_seq}, not {carried}")
        check_wait(log, waited.answer, waited.after_seq, conversation_id)
        shown += waited.answer["events"]
        carried = waited.answer["next_after_seq"]
    missed = _others(log, waits[0].after_seq, carried, conversation_id)
    _demand(shown == missed, f"{conversation_id} was not shown each event once, in order")


def check_woken(
    log: Log, waits: Iterable[Waited], conversation_id: str, kinds: Collection[str]
) -> None:
    """A wait ended because of the first that it was to end for, and by its time without any."""
    for waited in waits:
        answer, after_seq = waited.answer, waited.after_seq
        later = _others(log, after_seq, answer["latest_seq"], conversation_id)
        wakers = [event["seq"] for event in later if event["type"] in kinds]
        _demand(
            answer["woken_by"] == wakers[:10],
            f"a wait after {after_seq} names {answer['woken_by']} and not {wakers[:10]}",
        )
        _demand(
            bool(wakers) == (answer["reason"] == "event"),
            f"a wait after {after_seq} ended by {answer['reason']}, with {wakers[:10]}",
        )


def _check_end(page: Json) -> None:
    through, latest = page["next_after_seq"], page["latest_seq"]
    _demand(through <= latest, f"a page ends at {through}, beyond the latest, {latest}")
    _demand(page["has_more"] or through == latest, f"a last page ends at {through}, not {latest}")


def _others(log: Log, after_seq: int, through: int, conversation_id: str) -> list[Json]:
    return [
        event
        for event in log
        if after_seq < event["seq"] <= through
        and (event["author"] or {}).get("conversation_id") != conversation_id
    ]


def _demand_not_early(event: Json) -> None:
    if event["reason"] == "expired":
        _demand(event["at"] >= event["expires_at"], f"{_name(event)} comes before the end")


def _concerned(event: Json) -> Json:
    """Whose doing an event is or, when the daemon did it, whom it concerns."""
    who: Json = event["author"] or event["participant"]
    return who


def _numbers(events: Iterable[Json]) -> list[int]:
    return [event["seq"] for event in events]


def _name(event: Json) -> str:
    return " ".join(str(event[part]) for part in ("type", "reason", "seq") if event[part])


def _fence(event: Json | None) -> str:
    return f"fence {event['fence']}" if event else "nobody"


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise HistoryError(otherwise)
