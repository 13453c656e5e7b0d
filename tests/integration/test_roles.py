"""Who may make which call: every call, by everyone who could make it, each with its outcome."""

from __future__ import annotations

import itertools
import os
import pwd
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from coordroomsd.api.operations import OPERATIONS
from coordroomsd.http.openapi import description
from tests.acceptance.daemons import running
from tests.integration.callers import Caller, Json, ListeningDaemon

_names = (f"p-{number}" for number in itertools.count())

# Columns: `host` is whoever runs the daemon and `user` another user of the host, naming nobody;
# `member` is an agent active in the room and party to the conversation, `outside` one who is
# neither; `person` and `chief`, an operator, have tokens and are in neither; `foreign` is an agent
# of another project, `warden` that project's operator; `nobody` has no credential, or none that is
# valid (any more).
#
# Cells: the status; or the code of the refusal, in short as below.
SHORT = {
    "named": "conversation_required",
    "forbid": "forbidden",
    "room": "room_not_found",
    "member": "membership_not_found",
    "active": "active_membership_conflict",
    "who": "participant_not_found",
    "auth": "unauthorized",
}
TABLE = """
                          host    user    member  outside person  chief   foreign warden  nobody
getMe                     named   named   200     200     200     200     200     200     auth
listParticipants          200     named   200     200     200     200     200     200     auth
createRoom                named   named   active  201     201     201     201     201     auth
listRooms                 200     200     200     200     200     200     200     200     auth
getRoom                   200     named   200     member  200     200     room    room    auth
joinRoom                  named   named   200     200     200     200     room    room    auth
leaveRoom                 named   named   200     member  member  member  room    room    auth
listMembers               200     named   200     member  200     200     room    room    auth
postMessages              named   named   201     member  member  member  room    room    auth
listMessages              200     named   200     member  200     200     room    room    auth
getMessage                200     named   200     member  200     200     room    room    auth
listReceipts              200     named   200     member  200     200     room    room    auth
listReactions             200     named   200     member  200     200     room    room    auth
addReaction               named   named   200     member  member  member  room    room    auth
removeReaction            named   named   200     member  member  member  room    room    auth
listEvents                200     named   200     member  200     200     room    room    auth
waitInRoom                named   named   200     member  member  member  room    room    auth
wait                      named   named   200     member  member  member  room    room    auth
listUnread                named   named   200     200     200     200     200     200     auth
moveCursors               named   named   200     member  member  member  room    room    auth
setStatus                 named   named   200     member  member  member  room    room    auth
listClaims                200     named   200     member  200     200     room    room    auth
claim                     named   named   200     member  member  member  room    room    auth
releaseClaim              named   named   200     member  member  member  room    room    auth
setRetention              200     forbid  forbid  forbid  forbid  200     forbid  room    auth
search                    200     named   200     member  200     200     room    room    auth
openConversation          named   named   201     201     201     201     who     who     auth
listConversations         200     named   200     200     200     200     200     200     auth
listConversationMessages  200     named   200     room    room    200     room    room    auth
sendMessage               named   named   201     room    room    member  room    room    auth
acknowledge               named   named   200     room    room    member  room    room    auth
offerEnrollment           201     forbid  forbid  forbid  forbid  201     forbid  201     auth
enroll                    201     201     201     201     201     201     201     201     201
revokeTokens              200     forbid  forbid  forbid  forbid  200     forbid  200     auth
getHealth                 200     200     200     200     200     200     200     200     200
getReadiness              200     200     200     200     200     200     200     200     200
getDescription            200     200     200     200     200     200     200     200     200
getMetrics                200     200     200     200     200     200     200     200     auth
callTools                 200     200     200     200     200     200     200     200     auth
"""


@dataclass(frozen=True)
class Scene:
    """A room and a conversation with a message each by `host`, who is asked nothing more."""

    daemon: ListeningDaemon
    room: str
    conversation: str
    message: int
    other: str

    def code(self) -> str:
        offer = {"name": next(_names), "kind": "agent", "role": "agent"}
        code: str = self.daemon.operator.ok("POST", "/enrollments", offer)["code"]
        return code


class Call(NamedTuple):
    method: str
    path: str
    body: Any = None
    query: Json = {}


def _in_room(method: str, path: str, body: Any = None, **query: Any) -> Callable[[Scene], Call]:
    return lambda s: Call(method, f"/rooms/{s.room}{path.format(s.message)}", body, query)


def _in_thread(method: str, path: str, body: Any = None) -> Callable[[Scene], Call]:
    return lambda s: Call(method, f"/conversations/{s.conversation}{path}", body)


def _initialize(protocol: str) -> Json:
    client = {"name": "a test", "version": "1"}
    parameters = {"protocolVersion": protocol, "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters}


DECISION = {"kind": "decision", "body": "x"}
CALLS: dict[str, Callable[[Scene], Call]] = {
    "getMe": lambda s: Call("GET", "/me"),
    "listParticipants": lambda s: Call("GET", "/participants"),
    "createRoom": lambda s: Call("POST", "/rooms", {"name": next(_names)}),
    "listRooms": lambda s: Call("GET", "/rooms"),
    "getRoom": _in_room("GET", ""),
    "joinRoom": _in_room("POST", "/join"),
    "leaveRoom": _in_room("POST", "/leave"),
    "listMembers": _in_room("GET", "/members"),
    "postMessages": _in_room("POST", "/messages", {"messages": [DECISION]}),
    "listMessages": _in_room("GET", "/messages"),
    "getMessage": _in_room("GET", "/messages/{}"),
    "listReceipts": _in_room("GET", "/messages/{}/receipts"),
    "listReactions": _in_room("GET", "/messages/{}/reactions"),
    "addReaction": _in_room("PUT", "/messages/{}/reactions/agree"),
    "removeReaction": _in_room("DELETE", "/messages/{}/reactions/agree"),
    "listEvents": _in_room("GET", "/events"),
    "waitInRoom": _in_room("GET", "/wait", timeout_s=0),
    "wait": lambda s: Call("POST", "/wait", {"cursors": {s.room: 0}, "timeout_s": 0}),
    "listUnread": lambda s: Call("GET", "/unread"),
    "moveCursors": lambda s: Call("POST", "/cursor", {"cursors": {s.room: 1}}),
    "setStatus": _in_room("PUT", "/status", {"status": "at work"}),
    "listClaims": _in_room("GET", "/claims"),
    "claim": _in_room("POST", "/claims", {"key": "the draft"}),
    "releaseClaim": _in_room("DELETE", "/claims", key="the draft"),
    "setRetention": _in_room("PUT", "/retention", {"max_events": 100}),
    "search": lambda s: Call("GET", "/search", None, {"q": "hello", "room": s.room}),
    "openConversation": lambda s: Call("POST", "/conversations", {"with": s.other}),
    "listConversations": lambda s: Call("GET", "/conversations"),
    "listConversationMessages": _in_thread("GET", "/messages"),
    "sendMessage": _in_thread("POST", "/messages", {"kind": "note", "body": "x"}),
    "acknowledge": _in_thread("POST", "/messages/1/ack"),
    "offerEnrollment": lambda s: Call(
        "POST", "/enrollments", {"name": next(_names), "kind": "agent", "role": "agent"},
    ),
    "enroll": lambda s: Call("POST", "/enroll", {"code": s.code()}),
    "revokeTokens": lambda s: Call("DELETE", f"/participants/{next(_names)}/tokens"),
    "getHealth": lambda s: Call("GET", "/healthz"),
    "getReadiness": lambda s: Call("GET", "/readyz"),
    "getDescription": lambda s: Call("GET", "/openapi.json"),
    "getMetrics": lambda s: Call("GET", "/metrics"),
    "callTools": lambda s: Call("POST", "/mcp", _initialize("2025-06-18")),
}  # fmt: skip
OUTSIDE_THE_BASE = ("getHealth", "getReadiness", "getDescription", "getMetrics", "callTools")


def _cells() -> Iterator[tuple[str, str, int | str]]:
    """Operation, column, outcome."""
    head, *rows = (line.split() for line in TABLE.strip().splitlines())
    for operation, *outcomes in rows:
        for column, outcome in zip(head, outcomes, strict=True):
            yield operation, column, SHORT.get(outcome) or int(outcome)


@pytest.fixture(scope="module")
def daemon() -> Iterator[ListeningDaemon]:
    with running(ListeningDaemon()) as daemon:
        # Only this test's users can reach the directory's name.
        daemon.socket.chmod(0o666)
        yield daemon


def _callers(daemon: ListeningDaemon) -> dict[str, list[Caller]]:
    """Everybody of each column; `member` and `outside` differ by their scene only."""
    other_user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None

    def enrolled(role: str, project: str | None = None) -> list[Caller]:
        caller = daemon.enrol(next(_names), role, project)
        return [caller] if project else [caller, caller.over_socket()]

    def agents() -> list[Caller]:
        plain = daemon.agent(next(_names))
        others = [Caller(daemon, next(_names), uid=other_user)] if other_user is not None else []
        below = daemon.enrol(name := next(_names), "agent")
        return [plain, *others, *enrolled("agent"), Caller(daemon, f"{name}/a", "tcp", below.token)]

    revoked = daemon.enrol(name := next(_names), "operator")
    daemon.operator.ok("DELETE", f"/participants/{name}/tokens")
    return {
        "host": [daemon.operator],
        "user": [Caller(daemon, uid=other_user)] if other_user is not None else [],
        "member": agents(),
        "outside": agents(),
        "person": enrolled("human"),
        "chief": enrolled("operator"),
        "foreign": enrolled("agent", "elsewhere"),
        "warden": enrolled("operator", "elsewhere"),
        "nobody": [
            Caller(daemon, over="tcp"),
            Caller(daemon, "ann", over="tcp"),
            Caller(daemon, over="tcp", token="A" * 43),
            Caller(daemon, token="A" * 43),
            revoked,
            revoked.over_socket(),
        ],
    }


@pytest.fixture(scope="module")
def callers(daemon: ListeningDaemon) -> dict[str, list[Caller]]:
    return _callers(daemon)


@pytest.fixture(scope="module")
def standing(daemon: ListeningDaemon) -> Scene:
    """For calls that change nothing, by anybody but a member."""
    return _scene(daemon, daemon.operator, is_member=False)


def _scene(daemon: ListeningDaemon, caller: Caller, *, is_member: bool) -> Scene:
    host, other, room = daemon.agent(next(_names)), daemon.agent(next(_names)), next(_names)
    host.ok("POST", "/rooms", {"name": room})
    hello = {"messages": [{"kind": "question", "body": "hello"}]}
    message = host.ok("POST", f"/rooms/{room}/messages", hello)["latest_seq"]
    other.ok("POST", f"/rooms/{room}/join")
    party = other.name
    if is_member:
        caller.ok("POST", f"/rooms/{room}/join")
        party = caller.ok("GET", "/me")["participant"]["conversation_id"]
    thread = host.ok("POST", "/conversations", {"with": party})["conversation"]["id"]
    note = {"kind": "note", "body": "hello"}
    host.ok("POST", f"/conversations/{thread}/messages", note, headers={"Idempotency-Key": "first"})
    return Scene(daemon, room, thread, message, str(other.name))


@pytest.mark.parametrize(("operation", "column", "outcome"), list(_cells()))
def test_who_may_call(
    daemon: ListeningDaemon,
    callers: dict[str, list[Caller]],
    standing: Scene,
    operation: str,
    column: str,
    outcome: int | str,
) -> None:
    if not callers[column]:
        pytest.skip("only root can call as another user of the host")
    found = []
    for caller in callers[column]:
        call = CALLS[operation](standing)
        if column == "member" or (call.method != "GET" and outcome not in SHORT.values()):
            caller.call("POST", "/rooms/@active/leave")
            call = CALLS[operation](_scene(daemon, caller, is_member=column == "member"))
        method, path, body, query = call
        headers = {"Accept": "application/json, text/event-stream"} if path == "/mcp" else {}
        if operation == "sendMessage":
            headers["Idempotency-Key"] = "a-key"
        base = "" if operation in OUTSIDE_THE_BASE else "/api/v1"
        reply = caller.call(method, path, body, base=base, headers=headers, **query)
        found.append((caller, reply.outcome))
    assert found == [(caller, outcome) for caller in callers[column]]


def test_every_call_has_a_row() -> None:
    described = description(OPERATIONS)["paths"]
    calls = {call["operationId"] for item in described.values() for call in item.values()}
    assert {operation for operation, _, _ in _cells()} == {*calls, "callTools"} == set(CALLS)
