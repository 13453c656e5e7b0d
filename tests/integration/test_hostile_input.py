"""Signs that break drivers, paths and parsers: every call answers in words, none with a 500."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from coordroomsd.api.operations import OPERATIONS
from tests.acceptance.daemons import running
from tests.integration.callers import Caller, ListeningDaemon
from tests.integration.wires import Headers, Wire

# As they stand in a path or query.
IN_ADDRESSES = [
    "%00", "a%00b", "%ED%A0%80", "%FF%FE", "%C0%AF", "%", "%2", "%zz", "%2F", "..%2f..%2fetc",
    "%2e%2e", "@active", "@", "@@active", "room_", "room_0", "room_zzzzzzzzzzzzzzz", "member_1",
    "room_" + "z" * 500, "0", "-1", "1e3", "0x1", "1.5", "9" * 30, "9223372036854775807",
    "9223372036854775808", "%D9%A1", "%E2%85%A0", "nan", "inf", "null", "true",
    "%F0%9F%92%A9" * 60, "%E2%80%AE", "%E2%80%8B", "%0D%0AX:%20y", "%27--", "%25s", "{}",
    "%7B0%7D", "+", "%20", "%09", ";", "*", "~", "a" * 5000,
]  # fmt: skip
# As JSON.
IN_BODIES = [
    b'"\\u0000"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\xff"', b'"\xed\xa0\x80"', b"NaN",
    b"-Infinity", b"1e999", b"-0", b"1" + b"0" * 400, b"9223372036854775807",
    b"9223372036854775808", b"18446744073709551616", b"1.0", b"1e3", b"true", b"null", b"[]",
    b"{}", b'[[["x"]]]', b'{"x": {"y": {}}}', b'""', b'" "', b'"\\u202e"', b'"\\u200b"',
    b'"@active"', b'"a/b"', b'"' + b"x" * 70_000 + b'"', b'["a", 1, null, {}]', b'{"\\u0000": 1}',
    b'{"\\ud800": 1}', b'{"": 1}', b'{"@active": 9223372036854775807}', b'{"@active": -1}',
    b'{"@active": 1, "@active": 2}',
]  # fmt: skip
WHOLE_BODIES = [
    b"null", b"1", b'"x"', b"[]", b"{", b"}", b"", b" ", b"\xef\xbb\xbf{}", b"\xff\xfe{\x00}\x00",
    b"{'a': 1}", b'{"a": 1,}', b'{"a": 1}{"a": 2}', b"/* */{}", b"\x00",
    b'{"name": "x", "name": 1}', b'{"__proto__": {}, "constructor": 1}',
    *(left * depth + b"1" + right * depth
      for left, right in ((b"[", b"]"), (b'{"a":', b"}"))
      for depth in (99, 300, 990, 1020, 1030, 100_000)),
]  # fmt: skip
IN_HEADERS = [
    "\xff",
    "a b",
    "%00",
    "%ff",
    "%",
    "a\tb",
    "é",
    "x" * 5000,
    "@active",
    "a/",
    "/",
    "a//b",
    "%0a",
    "-1",
]
FIELDS = {
    field.alias or name
    for operation in OPERATIONS
    if operation.body
    for name, field in operation.body.model_fields.items()
}


@pytest.fixture(scope="module")
def daemon() -> Iterator[ListeningDaemon]:
    with running(ListeningDaemon()) as daemon:
        daemon.agent("ann").ok("POST", "/rooms", {"name": "here"})
        yield daemon


@pytest.fixture(params=["operator", "agent"])
def caller(request: pytest.FixtureRequest, daemon: ListeningDaemon) -> Iterator[Caller]:
    """Nothing that it does may end in an error of the daemon's own."""
    yield daemon.operator if request.param == "operator" else daemon.agent("ann")
    assert "internal error" not in daemon.log()
    assert "Traceback" not in daemon.log()


def _lines(caller: Caller) -> Headers:
    return [("Host", "here"), *caller.headers().items()]


def _places(path: str) -> list[str]:
    """The path with one value in it hostile and the others good."""
    good = {"{room}": "here", "{conversation}": "room_0", "{message}": "1", "{reaction}": "ack"}
    good["{name}"] = "nobody"
    parts = path.split("/")
    found = []
    for at, part in enumerate(parts):
        if part in good:
            rest = [good.get(other, other) for other in parts]
            found.append("/".join([*rest[:at], "%s", *rest[at + 1 :]]))
    return found


def test_in_paths(caller: Caller) -> None:
    with Wire(caller) as wire:
        for operation, sign in itertools.product(OPERATIONS, IN_ADDRESSES):
            for place in _places(operation.path):
                target = "/api/v1" + place.replace("%s", sign)
                reply = wire.ask(operation.method, target, _lines(caller))
                assert reply.status < 500, (operation.method, target, reply.content)


def test_in_queries(caller: Caller) -> None:
    with Wire(caller) as wire:
        for operation in OPERATIONS:
            path = "/api/v1" + operation.path.replace("{room}", "here").replace("{message}", "1")
            for name, sign in itertools.product(operation.query.model_fields, IN_ADDRESSES):
                others = {"q": "x", "key": "x", "timeout_s": "0"}
                given = "&".join(f"{key}={value}" for key, value in others.items() if key != name)
                query = f"{name}={sign}&{given if operation.parks else ''}"
                reply = wire.ask(operation.method, f"{path}?{query}", _lines(caller))
                assert reply.status < 500, (operation.method, path, query, reply.content)


def test_in_bodies(caller: Caller) -> None:
    lines = [*_lines(caller), ("Content-Type", "application/json"), ("Idempotency-Key", "a-key")]
    with Wire(caller) as wire:
        for operation in OPERATIONS:
            path = "/api/v1" + operation.path.replace("{room}", "here").replace("{message}", "1")
            fields = [b'{"%s": %s}' % (f.encode(), v) for f in FIELDS for v in IN_BODIES]
            own = operation.body.model_fields if operation.body else {}
            for content in WHOLE_BODIES + [f for f in fields if f.split(b'"')[1].decode() in own]:
                reply = wire.ask(operation.method, path, lines, content)
                assert reply.status < 500, (operation.method, path, content, reply.content)


@pytest.mark.parametrize(
    "name",
    ["Coordrooms-Conversation", "Idempotency-Key", "Authorization", "Last-Event-ID", "Accept"],
)
def test_in_headers(caller: Caller, name: str) -> None:
    with Wire(caller) as wire:
        for operation, sign in itertools.product(OPERATIONS, IN_HEADERS):
            path = "/api/v1" + operation.path.replace("{room}", "here").replace("{message}", "1")
            lines = [line for line in _lines(caller) if line[0] != name] + [(name, sign)]
            query = "?timeout_s=0" if operation.method == "GET" and operation.parks else ""
            reply = wire.ask(operation.method, path + query, lines)
            assert reply.status < 500, (operation.method, path, lines, reply.content)


def test_a_field_named_twice(daemon: ListeningDaemon) -> None:
    """The last one counts, as everywhere in JSON; the first does not slip through beside it."""
    ann = daemon.agent("a-twin")
    ann.ok("POST", "/rooms/here/join")
    lines = [*_lines(ann), ("Content-Type", "application/json")]
    message = b'{"kind": "decision", "body": "first", "body": "last"}'
    with Wire(ann) as wire:
        reply = wire.ask(
            "POST", "/api/v1/rooms/here/messages", lines, b'{"messages":[%s]}' % message
        )
        assert [said["body"] for said in reply.body["messages"]] == ["last"]
        page = wire.ask("GET", "/api/v1/rooms?limit=0&limit=1", lines)
        assert page.status == 200


def test_active_of_nobody(daemon: ListeningDaemon) -> None:
    """`@active` needs somebody whose active room it is."""
    for operation in OPERATIONS:
        if "{room}" not in operation.path:
            continue
        path = operation.path.replace("{room}", "@active").replace("{message}", "1")
        path = path.replace("{reaction}", "ack")
        body = {"max_events": 5} if operation.method == "PUT" else None
        reply = daemon.operator.call(operation.method, path, body)
        assert reply.outcome == "conversation_required", (operation.id, reply.content)
        reply = daemon.agent("stranger").call(operation.method, path, body)
        expected = "forbidden" if operation.needs == "operator" else "active_membership_not_found"
        assert reply.outcome == expected, (operation.id, reply.content)
