"""Every fault of a call is named at once: its field, and words that follow the field's name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordroomsd.api import schemas
from coordroomsd.api.fields import Fields, checked
from coordroomsd.domain.errors import Refusal

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3)
    ),
    max_leaves=8,
)
BODIES = [
    schemas.NewRoom, schemas.NewMessages, schemas.WaitOnMany, schemas.Confirm, schemas.NewStatus,
    schemas.NewClaim, schemas.NewConversation, schemas.NewConversationMessage,
    schemas.NewEnrollment, schemas.Enroll, schemas.RetentionPolicy,
]  # fmt: skip
QUERIES = [
    schemas.Nothing, schemas.WithGeneration, schemas.ListRooms, schemas.ListPage,
    schemas.MessagesPage, schemas.EventsPage, schemas.Wait, schemas.Unread, schemas.ReactionQuery,
    schemas.ReleaseQuery, schemas.SearchQuery, schemas.ConversationPage,
]  # fmt: skip


NAMES = ["limit", "after_seq", "wake_on", "timeout_s", "key", "q", "kind", "x"]

INTEGER = "should be a valid integer"
KINDS = "should be 'decision', 'warning', 'question', 'answer' or 'status'"


def at_least(number: int) -> str:
    return f"should be greater than or equal to {number}"


def at_most(number: int) -> str:
    return f"should be less than or equal to {number}"


def faults(
    model: type[Fields] | None = None,
    body: Any = None,
    query_model: type[Fields] = schemas.Nothing,
    *query: tuple[str, str],
    headers: tuple[tuple[str, str], ...] = (),
) -> dict[str, str]:
    """The problems of a call by field; none when it passes."""
    try:
        checked(model, body or {}, query_model, query, headers)
    except Refusal as refusal:
        return {fault["field"]: fault["problem"] for fault in refusal.extra["errors"]}
    return {}


def message(**fields: Any) -> dict[str, Any]:
    return {"kind": "decision", "body": "x", **fields}


@pytest.mark.parametrize(
    ("model", "body", "expected"),
    [
        (schemas.NewRoom, {}, {"name": "is missing"}),
        (schemas.NewRoom, {"name": " "}, {"name": "must not be blank"}),
        (schemas.NewRoom, {"name": 5}, {"name": "should be a valid string"}),
        (schemas.NewRoom, {"name": "a", "nam": 1}, {"nam": "is not a field of this call"}),
        (schemas.NewMessages, {"messages": []}, {"messages": "needs at least 1"}),
        (
            schemas.NewMessages,
            {"messages": [message()] * 101},
            {"messages": "has 101; at most 100 are allowed"},
        ),
        (
            schemas.NewMessages,
            {"messages": [message(), message(body=" "), {"kind": "note"}]},
            {
                "messages[1].body": "must not be blank",
                "messages[2].kind": KINDS,
                "messages[2].body": "is missing",
            },
        ),
        (
            schemas.NewMessages,
            {"messages": [message(kind="answer"), message(reply_to=3), message(reply_to=0)]},
            {
                "messages[0].reply_to": "is missing: an answer names the question that it answers",
                "messages[1].reply_to": "is for answers; a decision has none",
                "messages[2].reply_to": at_least(1),
            },
        ),
        (
            schemas.NewMessages,
            {"messages": [message()], "max_unseen": 0},
            {"max_unseen": "needs after_seq: unseen after which number?"},
        ),
        (
            schemas.NewMessages,
            {"messages": [message()], "if_claim": {"key": "k"}},
            {"if_claim.fence": "is missing"},
        ),
        (
            schemas.NewStatus,
            {"status": "x" * 121, "expires_in_s": 3601},
            {
                "status": "has 121 characters; at most 120 are allowed",
                "expires_in_s": at_most(3600),
            },
        ),
        (schemas.NewStatus, {"status": "x", "expires_in_s": True}, {"expires_in_s": INTEGER}),
        (schemas.NewStatus, {"status": "x", "expires_in_s": "60"}, {"expires_in_s": INTEGER}),
        (schemas.NewStatus, {"status": "x", "expires_in_s": 60.0}, {"expires_in_s": INTEGER}),
        (
            schemas.NewClaim,
            {"key": "k", "lease_s": 59, "fence": 0},
            {
                "lease_s": at_least(60),
                "fence": at_least(1),
            },
        ),
        (schemas.Confirm, {"cursors": {"plan": None}}, {"cursors.plan": INTEGER}),
        (schemas.WaitOnMany, {"cursors": {}}, {"cursors": "needs at least 1"}),
        (
            schemas.WaitOnMany,
            {"cursors": {"plan": 1}, "wake_on": ["answer:3"]},
            {"wake_on": "'answer:3' must name its room: answer:<room>/…"},
        ),
        (
            schemas.WaitOnMany,
            {"cursors": {"plan": 1}, "wake_on": ["free:other/k"]},
            {"wake_on": "'free:other/k': its room is not among the cursors"},
        ),
        (schemas.NewConversation, {"with": " "}, {"with": "must not be blank"}),
        (
            schemas.NewEnrollment,
            {"name": "a/b", "kind": "agent", "role": "human"},
            {
                "name": "must not contain a slash",
                "role": "is not for a participant of kind agent",
            },
        ),
        (
            schemas.RetentionPolicy,
            {"max_age_s": 0, "max_events": -1},
            {
                "max_age_s": at_least(1),
                "max_events": at_least(1),
            },
        ),
    ],
)  # fmt: skip
def test_faults_of_a_body(
    model: type[Fields], body: dict[str, Any], expected: dict[str, str]
) -> None:
    assert faults(model, body) == expected


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (schemas.NewRoom, {"name": "The Plan"}),
        (schemas.NewMessages, {"messages": [message(), message(kind="answer", reply_to=1)]}),
        (
            schemas.NewMessages,
            {
                "messages": [message()],
                "after_seq": 0,
                "max_unseen": 0,
                "if_claim": {"key": "k", "fence": 1},
            },
        ),
        (schemas.NewStatus, {"status": None}),
        (schemas.NewClaim, {"key": "k", "lease_s": 86_400}),
        (schemas.WaitOnMany, {"cursors": {"plan": None}, "timeout_s": 1.5}),
        (
            schemas.WaitOnMany,
            {"cursors": {"plan": 1}, "wake_on": ["message,status", "answer:plan/3", "free:plan/a"]},
        ),
        (schemas.Confirm, {"cursors": {}}),
        (schemas.NewConversationMessage, {"kind": "note", "body": "x", "reply_to": 1}),
        (schemas.RetentionPolicy, {}),
    ],
)  # fmt: skip
def test_what_is_right_passes(model: type[Fields], body: dict[str, Any]) -> None:
    assert faults(model, body) == {}


@pytest.mark.parametrize(
    ("model", "query", "expected"),
    [
        (schemas.ListRooms, [("state", "some")], {"state": "should be 'active' or 'all'"}),
        (schemas.ListRooms, [("limit", "1001")], {"limit": at_most(1000)}),
        (schemas.ListPage, [("limit", "x")], {"limit": "should be a whole number"}),
        (schemas.ListPage, [("aftr", "y")], {"aftr": "is not a field of this call"}),
        (schemas.Wait, [("after_seq", "-1")], {"after_seq": at_least(0)}),
        (schemas.Wait, [("after_seq", str(2**63))], {"after_seq": at_most(2**63 - 1)}),
        (schemas.Wait, [("after_seq", "9" * 21)], {"after_seq": "should be a whole number"}),
        (schemas.Wait, [("timeout_s", "301")], {"timeout_s": at_most(300)}),
        (schemas.Wait, [("timeout_s", "nan")], {"timeout_s": "should be a number"}),
        (schemas.ReleaseQuery, [], {"key": "is missing"}),
        (schemas.SearchQuery, [("q", " ")], {"q": "must not be blank"}),
        (schemas.SearchQuery, [("q", "x" * 1001)], {"q": "has more than 1000 characters"}),
        (schemas.Unread, [("max_bytes", "0")], {"max_bytes": at_least(1)}),
        (schemas.WithGeneration, [("generation", "")], {"generation": "needs at least 1"}),
    ],
)  # fmt: skip
def test_faults_of_a_query(
    model: type[Fields], query: list[tuple[str, str]], expected: dict[str, str]
) -> None:
    assert faults(None, None, model, *query) == expected


def test_a_kind_that_is_none_is_named_as_kind() -> None:
    assert list(faults(None, None, schemas.MessagesPage, ("kind", "gossip"))) == ["kind"]


def test_body_query_and_headers_are_checked_together() -> None:
    found = faults(
        schemas.NewClaim,
        {"key": "", "lease_s": 1},
        schemas.Wait,
        ("limit", "0"),
        headers=(("Idempotency-Key", "should be visible"),),
    )
    assert list(found) == ["Idempotency-Key", "key", "lease_s", "limit"]


def test_a_repeated_argument_is_a_list_where_one_is_wanted_and_else_the_last() -> None:
    query = [("wake_on", "message,claim"), ("wake_on", "free:a,b"), ("limit", "1"), ("limit", "2")]
    _, wait = checked(None, {}, schemas.Wait, query)
    assert wait.wake_on == ["message", "claim", "free:a,b"]
    assert wait.limit == 2


def test_what_is_no_wake_on_is_told_all_there_are() -> None:
    [problem] = faults(None, None, schemas.Wait, ("wake_on", "message,states")).values()
    kinds = "message, status, reaction, claim, member, expiry, answer:<id>, free:<key>"
    assert problem == f"'states' is none of {kinds}"


@given(st.sampled_from(BODIES), JSON)
def test_no_body_is_anything_but_right_or_refused(model: type[Fields], body: Any) -> None:
    found = faults(model, body if isinstance(body, dict) else {"name": body})
    assert all(isinstance(problem, str) and problem for problem in found.values())


@given(
    st.sampled_from(QUERIES),
    st.lists(
        st.tuples(
            st.sampled_from(NAMES),
            st.text(max_size=12),
        ),
        max_size=4,
    ),
)  # fmt: skip
def test_no_query_is_anything_but_right_or_refused(
    model: type[Fields], query: list[tuple[str, str]]
) -> None:
    found = faults(None, None, model, *query)
    assert all(isinstance(problem, str) and problem for problem in found.values())
