"""A token that ends while a call is on its way, or parked."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.acceptance.daemons import running
from tests.integration.callers import Caller, Json, ListeningDaemon
from tests.integration.wires import Wire
from tests.polling import until


@pytest.fixture(scope="module")
def daemon() -> Iterator[ListeningDaemon]:
    with running(ListeningDaemon()) as daemon:
        yield daemon


def _half_sent(wire: Wire, caller: Caller, path: str, body: Json) -> bytes:
    """Send all but the last bytes of a call, and return those."""
    content = json.dumps(body).encode()
    lines = [
        f"POST /api/v1{path} HTTP/1.1",
        f"Host: 127.0.0.1:{caller.daemon.port}",
        *(f"{name}: {value}" for name, value in caller.headers().items()),
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
    ]
    wire.send("\r\n".join([*lines, "", ""]).encode() + content[:-5])
    return content[-5:]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/rooms/@active/messages", {"messages": [{"kind": "decision", "body": "too late"}]}),
        ("/wait", {"cursors": {"@active": None}, "timeout_s": 300}),
    ],
    ids=["a message", "a wait"],
)
@pytest.mark.parametrize("how", ["revoked", "replaced"])
def test_a_body_that_comes_after_the_token_has_ended_is_refused(
    daemon: ListeningDaemon, path: str, body: Json, how: str
) -> None:
    name = f"{how}-{path.rpartition('/')[2]}"
    caller = daemon.enrol(name, "agent")
    caller.ok("POST", "/rooms", {"name": name})
    with Wire(caller) as wire:
        rest = _half_sent(wire, caller, path, body)
        # The connections are served in turn: once this is answered, the half has been read.
        caller.ok("GET", "/me")
        if how == "revoked":
            assert daemon.operator.ok("DELETE", f"/participants/{name}/tokens") == {"revoked": 1}
        else:
            daemon.enrol(name, "agent")
        wire.send(rest)
        assert wire.receive().outcome == "unauthorized"


async def test_a_new_token_ends_what_is_parked_under_the_one_before(
    daemon: ListeningDaemon,
) -> None:
    before = daemon.enrol("renewed", "agent")
    before.ok("POST", "/rooms", {"name": "renewed"})
    other = daemon.agent("somebody")
    after_seq = other.ok("POST", "/rooms/renewed/join")["next_after_seq"]

    def park(wire: Wire, caller: Caller) -> None:
        lines = [
            f"GET /api/v1/rooms/renewed/wait?after_seq={after_seq}&timeout_s=300 HTTP/1.1",
            f"Host: 127.0.0.1:{daemon.port}",
            f"Authorization: Bearer {caller.token}",
        ]
        wire.send("\r\n".join([*lines, "", ""]).encode())

    def is_parked() -> bool:
        members = other.ok("GET", "/rooms/renewed/members")["members"]
        return any(member["waiting"] for member in members)

    with Wire(before) as old:
        park(old, before)
        await until(is_parked)
        now = daemon.enrol("renewed", "agent")
        assert old.receive().outcome == "unauthorized"
        with Wire(now) as new:
            park(new, now)
            await until(is_parked)
            said = {"messages": [{"kind": "decision", "body": "to the new one"}]}
            other.ok("POST", "/rooms/renewed/messages", said)
            assert new.receive().body["woken_by"] == [after_seq + 1]
