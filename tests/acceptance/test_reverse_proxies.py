"""The daemon behind nginx and Caddy, as docs/proxies.md sets them up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing

import pytest

from tests.acceptance.daemons import running
from tests.acceptance.reverse_proxies import (
    NAME,
    Outside,
    ReverseProxy,
    block,
    daemon_behind_a_proxy,
)
from tests.integration.callers import Caller, Json, ListeningDaemon
from tests.polling import block_until

LONGEST_WAIT_S = 300
NONE: Mapping[str, str] = {}


@pytest.fixture(scope="module")
def daemon() -> Iterator[ListeningDaemon]:
    with running(daemon_behind_a_proxy()) as daemon:
        yield daemon


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxy(request: pytest.FixtureRequest, daemon: ListeningDaemon) -> Iterator[ReverseProxy]:
    proxy = ReverseProxy(request.param, daemon)
    yield proxy
    proxy.stop()


@pytest.fixture(scope="module")
def ann(proxy: ReverseProxy, daemon: ListeningDaemon) -> Iterator[Caller]:
    """Is active in the room `here`, with `bob`, who is on the socket."""
    daemon.agent("bob").call("POST", "/rooms", {"name": "here"})
    ann = daemon.enrol(f"ann-{proxy.port}", "agent")
    ann.ok("POST", "/rooms/here/join")
    yield ann
    assert str(ann.token) not in proxy.log()


@pytest.fixture
def outside(proxy: ReverseProxy, ann: Caller) -> Outside:
    return Outside(proxy, ann)


def _ask(
    outside: Outside, path: str, headers: Mapping[str, str] = NONE, body: bytes | None = None
) -> tuple[int, Json]:
    method = "GET" if body is None else "POST"
    with closing(outside.send(method, path, headers, body)) as connection:
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def _say(daemon: ListeningDaemon, body: str) -> int:
    message = {"messages": [{"kind": "decision", "body": body}]}
    seq: int = daemon.agent("bob").ok("POST", "/rooms/here/messages", message)["latest_seq"]
    return seq


def _is_waiting(caller: Caller) -> bool:
    members = caller.daemon.agent("bob").ok("GET", "/rooms/here/members")["members"]
    name = caller.ok("GET", "/me")["participant"]["conversation_id"]
    return any(one["waiting"] for one in members if one["conversation_id"] == name)


def test_calls_and_refusals_come_through(outside: Outside) -> None:
    status, room = _ask(outside, "/api/v1/rooms/here")
    assert (status, room["room"]["slug"]) == (200, "here")
    status, problem = _ask(outside, "/api/v1/rooms/here", {"Authorization": "Bearer wrong"})
    assert (status, problem["code"]) == (401, "unauthorized")
    status, problem = _ask(outside, "/api/v1/rooms", body=b" " * (1024 * 1024 + 1))
    assert (status, problem["code"]) == (413, "payload_too_large")
    status, said = _ask(
        outside,
        "/api/v1/rooms/here/messages",
        {"Idempotency-Key": "a-key"},
        b'{"messages": [{"kind": "decision", "body": "hello"}]}',
    )
    assert (status, said["messages"][0]["body"]) == (201, "hello")


def test_browsers_of_other_sites_stay_out(outside: Outside) -> None:
    assert _ask(outside, "/api/v1/rooms", {"Origin": f"https://{NAME}"})[0] == 200
    for headers in ({"Origin": "https://evil.test"}, {"Sec-Fetch-Site": "cross-site"}):
        status, problem = _ask(outside, "/api/v1/rooms", headers)
        assert (status, problem["code"]) == (403, "origin_not_allowed")


def test_another_host_gets_nothing(outside: Outside) -> None:
    """nginx passes it on, and the daemon refuses it; Caddy does not know the site."""
    with closing(outside.send("GET", "/api/v1/rooms", {"Host": "evil.test"})) as connection:
        response = connection.getresponse()
        content = response.read()
        assert response.status == 421 or content == b""


def test_what_it_says_about_others_is_not_believed(outside: Outside) -> None:
    forged = {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": NAME, "Forwarded": "for=::1"}
    status, problem = _ask(outside, "/api/v1/rooms", {"Authorization": "", **forged})
    assert (status, problem["code"]) == (401, "unauthorized")


def test_a_wait_wakes(outside: Outside, ann: Caller) -> None:
    before = _say(ann.daemon, "before")
    path = f"/api/v1/rooms/here/wait?after_seq={before}&timeout_s={LONGEST_WAIT_S}"
    with closing(outside.send("GET", path, NONE)) as connection:
        block_until(lambda: _is_waiting(ann))
        seq = _say(ann.daemon, "now")
        answer = json.loads(connection.getresponse().read())
        assert (answer["reason"], answer["woken_by"]) == ("event", [seq])


def test_whoever_goes_away_leaves_no_waiter(outside: Outside, ann: Caller) -> None:
    before = _say(ann.daemon, "before")
    path = f"/api/v1/rooms/here/wait?after_seq={before}&timeout_s={LONGEST_WAIT_S}"
    with closing(outside.send("GET", path, NONE)):
        block_until(lambda: _is_waiting(ann))
    block_until(lambda: not _is_waiting(ann))


def test_a_stream_is_not_held_back(outside: Outside, ann: Caller) -> None:
    """Each event is there before the next one is said."""
    headers = {"Accept": "text/event-stream"}
    with closing(outside.send("GET", "/api/v1/rooms/here/events", headers)) as connection:
        response = connection.getresponse()
        assert response.headers.get_content_type() == "text/event-stream"
        assert response.readline() == b"retry: 1000\n"
        for _ in range(3):
            seq = _say(ann.daemon, "streamed")
            while (line := response.readline()) != f"id: {seq}\n".encode():
                assert line, "the stream has ended"


def test_time_outs_are_above_the_longest_wait() -> None:
    limits = re.findall(r"proxy_(?:read|send)_timeout (\d+)s;", block("nginx"))
    assert len(limits) == 2
    assert all(int(limit) > LONGEST_WAIT_S for limit in limits)
