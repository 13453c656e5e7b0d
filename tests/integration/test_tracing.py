"""What a collector is sent of calls, and that one which is away harms none."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from coordroomsd import telemetry
from coordroomsd.config import ConfigurationError
from coordroomsd.settings import Tracing
from tests.acceptance.daemons import running
from tests.collectors import Collector, Span, collecting
from tests.integration.callers import ListeningDaemon
from tests.integration.mcp_sessions import Session
from tests.polling import block_until
from tests.postgres_servers import free_port

MESSAGES = "POST /rooms/{room}/messages"
WAIT = "GET /rooms/{room}/wait"
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNSAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"

Both = tuple[ListeningDaemon, Collector]


@contextmanager
def traced(further: str = "", url: str | None = None) -> Iterator[Both]:
    """A daemon that sends its traces to a collector, or to a `url` where there is none."""
    with collecting() as collector:
        config = f'[tracing]\nendpoint = "{url or collector.url}"\n{further}'
        with running(ListeningDaemon(config=config)) as daemon:
            yield daemon, collector


def only(collector: Collector, name: str) -> Span:
    block_until(lambda: collector.named(name), lambda: str(collector.spans))
    [span] = collector.named(name)
    return span


def said(body: str, kind: str = "decision") -> dict[str, object]:
    return {"messages": [{"kind": kind, "body": body}]}


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    """After a post that woke a wait, came with a traceparent, and was over TCP."""
    with traced() as (daemon, collector):
        ann, bob = daemon.agent("ann"), daemon.agent("bob")
        poster = daemon.enrol("eve", "agent")
        ann.ok("POST", "/rooms", {"name": "plan"})
        head = bob.ok("POST", "/rooms/plan/join")["next_after_seq"]
        poster.ok("POST", "/rooms/plan/join")
        waiting = threading.Thread(
            target=bob.ok, args=("GET", f"/rooms/plan/wait?after_seq={head}")
        )
        waiting.start()
        members = "/rooms/plan/members"
        block_until(lambda: any(m["waiting"] for m in ann.ok("GET", members)["members"]))
        poster.ok("POST", "/rooms/plan/messages", said("sesame"), headers={"traceparent": CALLER})
        waiting.join()
        assert ann.call("GET", "/rooms/nowhere").outcome == "room_not_found"
        assert ann.call("GET", "/sesame").outcome == "not_found"
        yield daemon, collector


def test_a_post_goes_through_its_stages_below_its_caller(both: Both) -> None:
    _, collector = both
    post = only(collector, MESSAGES)
    _, trace, parent, _ = CALLER.split("-")
    assert (post.trace, post.parent) == (trace, parent)
    parts = collector.below(post)
    assert [part.name for part in parts] == ["queue", "decide", "commit", "publish"]
    assert all(part.trace == trace for part in parts)
    moments = [moment for part in parts for moment in (part.began, part.ended)]
    in_order = [post.began, *moments, post.ended]
    assert in_order == sorted(in_order)
    assert post.notes == {
        "coordrooms.operation": "postMessages",
        "coordrooms.participant": "eve",
        "coordrooms.room": "plan",
        "http.response.status_code": "201",
    }


def test_a_wait_names_the_call_that_woke_it(both: Both) -> None:
    _, collector = both
    wait = only(collector, WAIT)
    assert wait.links == [only(collector, MESSAGES).id]
    assert [part.name for part in collector.below(wait)] == ["wake"]


def test_a_refusal_is_no_error_and_has_its_code(both: Both) -> None:
    _, collector = both
    refused = only(collector, "GET /rooms/{room}")
    assert refused.notes["coordrooms.refusal"] == "room_not_found"
    assert not refused.is_error
    # A path that is none of ours may hold anything.
    assert only(collector, "GET").notes["coordrooms.refusal"] == "not_found"


def test_nobody_is_told_what_was_said_or_shown(both: Both) -> None:
    daemon, collector = both
    assert b"sesame" not in collector.raw
    eve = daemon.enrol("eve", "agent")
    assert eve.token
    eve.ok("GET", "/participants")
    only(collector, "GET /participants")
    assert eve.token.encode() not in collector.raw


def test_a_tool_is_a_span_with_its_calls_below(both: Both) -> None:
    daemon, collector = both
    ann = daemon.agent("ann")
    arguments = {"room": "plan", "status": "sesame", "conversationId": "ann"}
    tool = {"name": "set_status", "arguments": arguments, "_meta": {"traceparent": CALLER}}
    assert b"sesame" in Session(ann).ask(ann, "tools/call", tool).content
    called = only(collector, "tools/call set_status")
    assert called.parent == CALLER.split("-")[2]
    [made] = collector.below(called)
    assert made.name == "PUT /rooms/{room}/status"
    assert [part.name for part in collector.below(made)][:1] == ["queue"]
    assert b"sesame" not in collector.raw


def test_who_calls_may_decide_what_is_sampled() -> None:
    with traced("ratio = 0.0") as (daemon, collector):
        ann = daemon.agent("ann")
        ann.ok("GET", "/me")
        ann.ok("GET", "/me", headers={"traceparent": UNSAMPLED})
        ann.ok("GET", "/rooms", headers={"traceparent": CALLER})
        ann.ok("GET", "/participants", headers={"traceparent": "nonsense"})
        daemon.stop()
        assert [span.name for span in collector.spans] == ["GET /rooms"]


@pytest.mark.parametrize("how", ["refuses", "hangs", "is not there"])
def test_a_collector_that_takes_nothing_harms_no_call(how: str) -> None:
    url = f"http://127.0.0.1:{free_port()}/" if how == "is not there" else None
    with traced(url=url) as (daemon, collector):
        collector.status = 500
        if how == "hangs":
            collector.may_answer.clear()
        ann = daemon.agent("ann")
        ann.ok("POST", "/rooms", {"name": "plan"})
        for number in range(30):
            ann.ok("POST", "/rooms/plan/messages", said(str(number)))
        if how == "refuses":
            block_until(lambda: "could not send traces" in daemon.log(), daemon.log)
            collector.status = 200
            ann.ok("POST", "/rooms/plan/messages", said("again"))
            block_until(lambda: "can send traces again" in daemon.log(), daemon.log)
        assert daemon.end(signal.SIGTERM) == 0
        lines = [line for line in daemon.log().splitlines() if "trace" in line]
        assert len(lines) <= (2 if how == "refuses" else 1), lines


def test_unconfigured_nothing_is_imported() -> None:
    program = (
        "import sys; from coordroomsd import cli, server, telemetry; "
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert json.loads(done.stdout) == []


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "_NEEDED", ("nonexistent_package.sdk",))
    telemetry.check(Tracing())
    with pytest.raises(ConfigurationError, match=r"install coordroomsd\[otel\]"):
        telemetry.check(Tracing(endpoint="http://127.0.0.1:4318/v1/traces"))
