"""The relay between a host's pipes and a daemon's socket."""

from __future__ import annotations

import json
import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordrooms import relay_loop
from coordrooms.relay_calls import GENERATION_KEY, MESSAGE_MAX_BYTES, MOST_RESENDS, WAITED_KEY
from coordrooms.relay_streams import BACKLOG
from tests.unit.client.relay_ends import DEADLINE_S, HELLO, MODERN, HostEnd, Listener, relayed


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    listener = Listener(tmp_path / "d-mcp.sock")
    yield listener
    listener.discard()


@pytest.fixture
def host(listener: Listener) -> Iterator[HostEnd]:
    with relayed(listener.path) as host:
        yield host


def stuck_after(fd: int, data: bytes) -> int:
    """How many bytes of `data` can be written until the reader has taken none for a while."""
    written = 0
    while select.select([], [fd], [], 0.5)[1]:
        written += os.write(fd, data[written : written + 65536])
        assert written < len(data)
    return written


# --- one daemon ------------------------------------------------------------------------------


def test_calls_and_answers_pass_as_they_are(host: HostEnd, listener: Listener) -> None:
    listener.open()
    host.introduce()
    call = host.call(1, "claim", key="the-draft", room="ä room")
    daemon = listener.accept().greeted()
    assert daemon.receive() == call
    answer = daemon.answer(call, structuredContent={"result": {"renewed": False}})
    assert host.receive() == answer


def test_connects_with_the_first_call_and_not_before(host: HostEnd, listener: Listener) -> None:
    host.introduce()
    listener.open()
    host.request(1, "tools/list")
    host.request(2, "ping")
    host.receive()
    assert host.receive() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    host.call(3, "list_active_rooms")
    assert listener.accept().greeted().receive()["id"] == 3


def test_notifications_pass_both_ways(host: HostEnd, listener: Listener) -> None:
    listener.open()
    host.introduce()
    call = host.call(1, "wait")
    daemon = listener.accept().greeted()
    daemon.receive()
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 15}}
    daemon.send(progress)
    assert host.receive() == progress
    assert host.notify("notifications/roots/list_changed") == daemon.receive()
    assert daemon.answer(call) == host.receive()


def test_questions_of_the_daemon_are_answered_by_the_host(
    host: HostEnd, listener: Listener
) -> None:
    listener.open()
    host.introduce()
    host.call(1, "wait")
    daemon = listener.accept().greeted()
    daemon.receive()
    question = daemon.send({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})
    assert host.receive() == question
    assert host.send({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}) == daemon.receive()


def test_a_cancelled_call_is_cancelled_and_never_answered(
    host: HostEnd, listener: Listener
) -> None:
    listener.open()
    host.introduce()
    call = host.call("w", "wait")
    daemon = listener.accept().greeted()
    daemon.receive()
    assert host.notify("notifications/cancelled", requestId="w") == daemon.receive()
    daemon.answer(call)  # crossed the cancellation on its way
    other = host.call(2, "list_active_rooms")
    daemon.receive()
    daemon.answer(other)
    assert host.receive()["id"] == 2


def test_long_lines_pass_both_ways(host: HostEnd, listener: Listener) -> None:
    listener.open()
    host.introduce()
    text = "x" * (MESSAGE_MAX_BYTES - 200)
    call = host.call(1, "list_room_messages")
    daemon = listener.accept().greeted()
    daemon.receive()
    long = host.call(2, "write_messages", body=text)
    assert daemon.receive() == long
    # The host reads nothing meanwhile, and is read all the same.
    text *= 5
    daemon.answer(long, text=text)
    third = host.call(3, "list_active_rooms")
    assert host.receive()["result"]["text"] == text
    assert daemon.receive() == third
    daemon.answer(call)
    assert host.receive()["id"] == 1


def test_a_line_that_the_daemon_would_not_take_is_refused(
    host: HostEnd, listener: Listener
) -> None:
    listener.open()
    host.introduce()
    host.call(1, "write_messages", body="x" * MESSAGE_MAX_BYTES)
    failure = host.failure()
    assert (failure["id"], failure["code"]) == (1, "payload_too_large")


def test_a_host_that_does_not_read_stops_the_daemon_and_not_itself(
    host: HostEnd, listener: Listener
) -> None:
    listener.open()
    host.introduce()
    call = host.call(1, "wait")
    daemon = listener.accept().greeted()
    daemon.receive()
    os.set_blocking(daemon.writes, False)
    noise = json.dumps({"jsonrpc": "2.0", "method": "n", "params": {"text": "x" * 60_000}})
    far_beyond_the_backlog = (noise.encode() + b"\n") * 1000
    assert stuck_after(daemon.writes, far_beyond_the_backlog) < 20 * BACKLOG
    host.notify("notifications/cancelled", requestId=call["id"])
    assert daemon.receive()["method"] == "notifications/cancelled"


# --- no daemon -------------------------------------------------------------------------------


def test_without_a_daemon_each_call_says_so_and_tries_anew(
    host: HostEnd, listener: Listener
) -> None:
    host.introduce()
    host.call(1, "list_active_rooms")
    failure = host.failure()
    assert (failure["id"], failure["code"]) == (1, "daemon_unreachable")
    assert str(listener.path) in failure["message"]
    listener.open()
    call = host.call(2, "list_active_rooms")
    daemon = listener.accept().greeted()
    assert daemon.receive() == call
    assert daemon.answer(call) == host.receive()


def test_what_is_no_tool_fails_as_an_error(host: HostEnd) -> None:
    host.introduce()
    host.request(1, "prompts/list")
    error = host.receive()["error"]
    assert error["data"] == {"code": "daemon_unreachable"}


# --- a daemon that goes away -----------------------------------------------------------------


def test_a_restart_repeats_what_can_be_repeated(host: HostEnd, listener: Listener) -> None:
    listener.open()
    host.introduce()
    repeated = [
        host.call(1, "list_room_messages"),
        host.call(2, "write_messages", messages=[], idempotency_key="k"),
        host.call(3, "send_to_peer", idempotency_key="k"),
    ]
    lost = [
        host.call(4, "write_messages", messages=[]),
        host.call(5, "write_messages", messages=[], idempotency_key=" "),
        host.call(6, "set_status", status="x", idempotency_key="no such argument"),
    ]
    daemon = listener.accept().greeted()
    for call in repeated + lost:
        assert daemon.receive() == call
    daemon.close()
    for call in lost:
        failure = host.failure()
        assert (failure["id"], failure["code"]) == (call["id"], "daemon_restarted")
        assert call["params"]["name"] in failure["message"]
    daemon = listener.accept().greeted()
    for call in repeated:
        assert daemon.receive() == call
        assert daemon.answer(call) == host.receive()


def test_a_parked_wait_goes_on_and_says_how_long_it_took(host: HostEnd, listener: Listener) -> None:
    listener.open()
    host.introduce()
    call = host.request(
        1, "tools/call", {"name": "wait", "arguments": {}, "_meta": {"progressToken": "p"}}
    )
    daemon = listener.accept().greeted()
    assert daemon.receive() == call
    listener.close()
    daemon.close()
    listener.open()
    daemon = listener.accept().greeted()
    again = daemon.receive()
    assert again["params"]["_meta"].pop(WAITED_KEY) > 0
    assert again == call
    assert daemon.answer(call) == host.receive()


def test_a_wait_that_a_stopping_daemon_ends_goes_on_at_the_next(
    host: HostEnd, listener: Listener
) -> None:
    listener.open()
    host.introduce()
    wait, write = host.call(1, "wait"), host.call(2, "write_messages", messages=[])
    daemon = listener.accept().greeted()
    assert [daemon.receive(), daemon.receive()] == [wait, write]
    daemon.answer(wait, structuredContent={"result": {"reason": "closing"}})
    late = host.call(3, "join_room", roomName="r")
    daemon.answer(write, structuredContent={})
    assert host.receive()["id"] == 2
    # Nothing is left to wait for there, so the relay leaves by itself.
    with pytest.raises(EOFError):
        daemon.receive()
    daemon = listener.accept().greeted()
    assert {daemon.receive()["id"], daemon.receive()["id"]} == {wait["id"], late["id"]}
    daemon.answer(wait, structuredContent={"result": {"reason": "event"}})
    assert host.receive()["result"]["structuredContent"]["result"]["reason"] == "event"


def test_an_agents_numbers_are_sent_with_the_generation_they_are_of(
    host: HostEnd, listener: Listener
) -> None:
    listener.open()
    host.introduce()
    daemon = None
    for answer, generation in [
        ({"result": {"next_cursor": "r:4@g1"}}, None),
        ({"result": {"next_cursor": "@"}}, "g1"),
        ({"code": "generation_changed", "generation": "g2"}, "g1"),
        ({"result": {}}, "g2"),
    ]:
        call = host.call("w", "wait", after_seq=4)
        daemon = daemon or listener.accept().greeted()
        meta = daemon.receive()["params"].get("_meta", {})
        assert meta.get(GENERATION_KEY) == generation
        daemon.answer(call, structuredContent=answer)
        host.receive()
    assert daemon is not None
    # What takes no number is sent as it came, and so is what would be too long.
    call = host.call(2, "claim", room="r", key="k")
    assert daemon.receive() == call
    call = host.call(3, "write_messages", body="x" * (MESSAGE_MAX_BYTES - 120))
    assert daemon.receive() == call


def test_a_call_made_during_a_restart_waits_for_the_daemon(
    host: HostEnd, listener: Listener
) -> None:
    listener.open()
    host.introduce()
    first = host.call(1, "list_active_rooms")
    daemon = listener.accept().greeted()
    daemon.receive()
    listener.close()
    daemon.answer(first)
    host.receive()
    daemon.close()
    call = host.call(2, "create_room", roomName="r")
    listener.open()
    daemon = listener.accept().greeted()
    assert daemon.receive() == call


def test_a_call_cancelled_during_a_restart_is_forgotten(host: HostEnd, listener: Listener) -> None:
    listener.open()
    host.introduce()
    host.call(1, "wait")
    other = host.call(2, "wait")
    daemon = listener.accept().greeted()
    daemon.receive()
    daemon.receive()
    listener.close()
    daemon.close()
    host.notify("notifications/cancelled", requestId=1)
    host.request("p", "ping")
    host.receive()
    listener.open()
    assert listener.accept().greeted().receive()["id"] == other["id"]


def test_patience_ends(host: HostEnd, listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_loop, "PATIENCE_S", 0.0)
    listener.open()
    host.introduce()
    host.call(1, "wait")
    daemon = listener.accept().greeted()
    daemon.receive()
    listener.close()
    daemon.close()
    assert host.failure()["code"] == "daemon_unreachable"


def test_a_call_that_no_daemon_survives_is_given_up(
    host: HostEnd, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_loop, "FIRST_PAUSE_S", 0.0)
    listener.open()
    host.introduce()
    host.call(1, "list_room_messages")
    for _ in range(1 + MOST_RESENDS):
        daemon = listener.accept().greeted()
        daemon.receive()
        daemon.close()
    assert host.failure()["code"] == "daemon_restarted"


def test_what_speaks_no_mcp_is_no_daemon(
    host: HostEnd, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_loop, "FIRST_PAUSE_S", 0.0)
    listener.open()
    host.introduce()
    host.call(1, "create_room", roomName="r")
    listener.accept().send_raw(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    assert host.failure()["code"] == "daemon_restarted"


# --- eras ------------------------------------------------------------------------------------


def test_the_modern_era_has_no_handshake(host: HostEnd, listener: Listener) -> None:
    listener.open()
    host.request(1, "server/discover", {"_meta": MODERN})
    assert host.receive()["result"]["supportedVersions"] == ["2026-07-28"]
    params = {"name": "wait", "arguments": {}, "_meta": MODERN}
    call = host.request(2, "tools/call", params)
    daemon = listener.accept()
    assert [daemon.receive(), daemon.receive()] == [HELLO, call]
    daemon.close()
    daemon = listener.accept()
    assert daemon.receive() == HELLO
    again = daemon.receive()
    assert again["params"]["_meta"].pop(WAITED_KEY) >= 0
    assert again == call


def test_a_modern_failure_has_the_modern_shape(host: HostEnd) -> None:
    host.request(1, "tools/call", {"name": "wait", "_meta": MODERN})
    result = host.receive()["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "coordrooms"
    assert result["structuredContent"]["code"] == "daemon_unreachable"


def test_a_second_initialize_replaces_the_first(host: HostEnd, listener: Listener) -> None:
    host.introduce()
    host.introduce()
    listener.open()
    call = host.call(1, "list_active_rooms")
    assert listener.accept().greeted().receive() == call


# --- bad lines -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (b"{", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b"[" * 100_000, None, -32700),
        (b"[]", None, -32700),
        (b'"text"', None, -32700),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', 1, -32600),
        (b'{"jsonrpc":"2.0","id":1}', 1, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize"}', 1, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}', 1, -32602),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"initialize"}', "\ud800", -32602),
    ],
)
def test_a_bad_line_is_answered_and_harms_nobody(
    host: HostEnd, line: bytes, request_id: object, code: int
) -> None:
    host.send_raw(line + b"\n")
    answer = host.receive()
    assert (answer["id"], answer["error"]["code"]) == (request_id, code)
    assert answer["error"]["message"].strip()
    host.send_raw(b"\n  \r\n")
    host.request(2, "ping")
    assert host.receive()["id"] == 2


@pytest.mark.parametrize("params", [None, [], {"requestId": [1]}, {"requestId": 404}])
def test_an_odd_cancellation_is_ignored(host: HostEnd, params: object) -> None:
    host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    host.request(2, "ping")
    assert host.receive()["id"] == 2


def test_a_host_that_closes_its_stdout_ends_the_relay(host: HostEnd) -> None:
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, host.reads)
    os.close(nowhere)
    host.relay.join(DEADLINE_S)
    assert not host.relay.is_alive()
