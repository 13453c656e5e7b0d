"""Every call there is, and that its answers and refusals are those of its description."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import pytest

from coordroomsd.api.call import Operation
from coordroomsd.api.operations import OPERATIONS
from coordroomsd.domain import ids
from coordroomsd.domain.errors import CODES
from tests.integration import daemons
from tests.integration.daemons import Json, Party, Running
from tests.integration.documented import check_documented
from tests.polling import until


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The calls that have been answered, and not refused, since."""
    found: set[str] = set()

    def note(operation: Operation, status: int, body: Any) -> None:
        check_documented(operation, status, body)
        if status < 400:
            found.add(operation.id)

    monkeypatch.setattr(daemons, "check_documented", note)
    return found


async def talk(daemon: Running) -> tuple[Party, Party, str]:
    """A room in which everything has happened, and a conversation, by its id."""
    ada, bob = await daemon.room("plan", "ada", "bob")
    await ada.ok("GET", "/me")
    await daemon.party("newcomer").ok("GET", "/me")
    [question] = await ada.say("plan", "why?", kind="question")
    reply = {"messages": [{"kind": "answer", "body": "because", "reply_to": question}]}
    await bob.ok("POST", "/rooms/plan/messages", reply | {"after_seq": 0, "max_unseen": 9})
    await bob.ok("PUT", f"/rooms/plan/messages/{question}/reactions/ack", after_seq=0)
    await bob.ok("PUT", f"/rooms/plan/messages/{question}/reactions/ack")
    await bob.ok("PUT", f"/rooms/plan/messages/{question}/reactions/like")
    await bob.ok("DELETE", f"/rooms/plan/messages/{question}/reactions/like")
    await ada.set_status("plan", "reading")
    await bob.set_status("plan", "reading")
    await bob.set_status("plan", "reading")
    await bob.set_status("plan", None)
    fence = (await ada.claim("plan", "k", proposed_by_seq=question))["fence"]
    await ada.claim("plan", "k", fence=fence)
    posted = {
        "messages": [{"kind": "status", "body": "mine"}],
        "if_claim": {"key": "k", "fence": fence},
    }
    await ada.ok("POST", "/rooms/plan/messages", posted)
    opened = await ada.ok("POST", "/conversations", {"with": "bob"})
    assert await ada.ok("POST", "/conversations", {"with": "bob"}) == opened
    thread: str = opened["conversation"]["id"]
    note = {"kind": "note", "body": "psst"}
    sent = await ada.ok("POST", f"/conversations/{thread}/messages", note, idempotency_key="one")
    await bob.ok("POST", f"/conversations/{thread}/messages/{sent['message']['seq']}/ack")
    return ada, bob, thread


async def test_every_call_is_answered_as_described(daemon: Running, answered: set[str]) -> None:
    ada, bob, thread = await talk(daemon)
    for reader in (ada, daemon.operator):
        await reader.ok("GET", "/rooms")
        await reader.ok("GET", "/rooms", state="all", limit=1)
        await reader.ok("GET", "/participants")
        await reader.ok("GET", "/conversations")
        await reader.ok("GET", "/search", q="because")
        await reader.ok("GET", f"/conversations/{thread}/messages")
        for room in ("plan", thread):
            for path in ("", "/members", "/messages", "/events", "/claims"):
                await reader.ok("GET", f"/rooms/{room}{path}")
        for path in ("", "/receipts", "/reactions"):
            await reader.ok("GET", f"/rooms/plan/messages/3{path}")
    for limit in (1, 1000):
        await bob.ok("GET", "/rooms/plan/messages", limit=limit, kind="answer")
        await bob.ok("GET", "/rooms/plan/events", limit=limit, after_seq=2)
        await bob.ok("GET", "/unread", limit=limit)
        await bob.wait("plan", 0, limit=limit)
        body = {"cursors": {"plan": 0, thread: None}, "wake_on": ["message"], "limit": limit}
        await bob.ok("POST", "/wait", body)
    await bob.wait("plan", 0, timeout_s=0, wake_on="free:other")
    await bob.wait(thread, 0)
    await bob.ok("POST", "/wait", {"cursors": {"plan": 5}, "wake_on": ["member"], "timeout_s": 0})
    await bob.ok("POST", "/cursor", {"cursors": {"plan": 3, thread: 1}})
    for policy in ({"max_events": 5}, {"max_age_s": 60}, {}):
        await daemon.operator.ok("PUT", "/rooms/plan/retention", policy)
    await ada.ok("DELETE", "/rooms/plan/claims", key="k")
    await ada.ok("DELETE", "/rooms/plan/claims", key="k")
    enrollment = {"name": "eve", "kind": "human", "role": "human"}
    code = (await daemon.operator.ok("POST", "/enrollments", enrollment))["code"]
    await daemon.operator.ok("POST", "/enroll", {"code": code})
    await daemon.operator.ok("DELETE", "/participants/eve/tokens")
    await ada.leave("plan")
    assert answered == {operation.id for operation in OPERATIONS}


async def test_what_was_removed_is_answered_as_described(daemon: Running) -> None:
    ada, bob, _ = await talk(daemon)
    await daemon.operator.ok("PUT", "/rooms/plan/retention", {"max_events": 1})

    async def is_gone() -> bool:
        page = await ada.ok("GET", "/rooms/plan/events")
        return bool(page["retention_gap"] == {"from_seq": 1, "to_seq": page["latest_seq"] - 1})

    await until(is_gone)
    for path in ("/rooms/plan/messages", "/rooms/plan/events", "/unread"):
        await bob.ok("GET", path)
    waited = await bob.wait("plan", 0, timeout_s=0)
    assert waited["retention_gap"]


# What a path's values and a body may be taken for: nothing that exists, and nothing that could.
NAMES = ["nowhere", ids.room_id(7), "@active", "%2F", "%00", "%ED%A0%80", "%F0%9F%94%A5", "x" * 300]
BODIES: list[Any] = [
    None,
    {},
    [],
    "text",
    7,
    {"messages": [{"kind": "decision", "body": "\ud800"}]},
    {"messages": []},
    {"name": "a/b"},
    {"cursors": {"nowhere": 1}},
    {"cursors": {"\0": 1}},
    {"unknown": {"deep": [[[]]]}},
    {"key": "k", "lease_s": True},
    {"status": 5},
    {"with": "nobody"},
    {"code": "no such code"},
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
async def test_every_refusal_is_described(daemon: Running, operation: Operation) -> None:
    """Whoever calls, whatever is named and sent: no error of the daemon, no code unheard of."""
    ada, _, thread = await talk(daemon)
    callers = [ada, daemon.party("stranger"), daemon.operator, Party(daemon.daemon, None)]
    for caller in callers:
        for name in [*NAMES, "plan", thread]:
            path = re.sub(r"{(room|conversation|name)}", name, operation.path)
            for number in ("3", "1", "99", "x", "-1", str(2**63)):
                numbered = path.replace("{message}", number).replace("{reaction}", "ack")
                await checked(caller, operation, numbered, BODIES[0])
                if numbered == path:
                    break
        path = re.sub(r"{(room|conversation|name)}", "plan", operation.path)
        path = path.replace("{message}", "3").replace("{reaction}", quote("🔥"))
        for body in BODIES:
            await checked(caller, operation, path, body)
        for query in ({"unknown": "1"}, {"after_seq": "99"}, {"limit": "0"}, {"generation": "g0"}):
            await checked(caller, operation, path, BODIES[1], **query)


async def checked(
    caller: Party, operation: Operation, path: str, body: Any, **query: Any
) -> Json | None:
    if operation.parks:
        query.setdefault("timeout_s", "0")
        body = {**body, "timeout_s": 0} if isinstance(body, dict) else body
        if operation.method == "POST":
            del query["timeout_s"]
    reply = await caller.call(operation.method, path, body, **query)
    assert reply.status != 500, (path, body, reply.body)
    return reply.body


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_an_operation_names_codes_that_there_are(operation: Operation) -> None:
    assert set(operation.refusals) <= set(CODES)
    assert len(set(operation.refusals)) == len(operation.refusals)
    assert operation.summary
    assert not operation.key_required or operation.takes_key
