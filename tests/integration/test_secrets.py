"""No token and no code is anywhere but in the one answer that gives it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordroomsd.api.operations import OPERATIONS
from tests.acceptance.daemons import running
from tests.integration.callers import Caller, Json, ListeningDaemon, Reply


@pytest.fixture
def daemon() -> Iterator[ListeningDaemon]:
    with running(ListeningDaemon()) as daemon:
        yield daemon


def _answers(callers: list[Caller]) -> Iterator[str]:
    """What every call says to everyone, mostly refusals."""
    for caller in callers:
        for path in ("/healthz", "/readyz", "/metrics", "/openapi.json"):
            yield caller.call("GET", path, base="").content.decode()
        for operation in OPERATIONS:
            if operation.id == "revokeTokens":
                continue
            path = operation.path.replace("{room}", "here").replace("{conversation}", "here")
            path = path.replace("{message}", "1").replace("{reaction}", "ack")
            body = dict.fromkeys(operation.body.model_fields, "x") if operation.body else None
            reply = caller.call(operation.method, path, body)
            yield reply.content.decode() + str(reply.headers)


def _tools(caller: Caller) -> Iterator[str]:
    """What some tools say, over HTTP."""
    headers = {"Accept": "application/json, text/event-stream"}

    def ask(method: str, parameters: Json) -> Reply:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        return caller.call("POST", "/mcp", message, base="", headers=headers)

    client = {"name": "a test", "version": "1"}
    protocol = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    greeted = ask("initialize", protocol)
    headers["Mcp-Session-Id"] = {name.lower(): v for name, v in greeted.headers.items()}[
        "mcp-session-id"
    ]
    for tool, arguments in (
        ("list_active_rooms", {}),
        ("list_room_messages", {"conversationId": "ann"}),
        ("wait", {"conversationId": "ann", "timeout_s": 0}),
        ("send_to_peer", {"conversationId": "ann", "to": "pat", "kind": "note", "body": "x"}),
    ):
        reply = ask("tools/call", {"name": tool, "arguments": arguments})
        assert reply.status == 200, reply.content
        yield reply.content.decode()


def _spellings(secret: str) -> list[bytes]:
    """As it is, and in the ways that would give it away."""
    return [secret.encode(), base64.b64encode(secret.encode()), secret.encode().hex().encode()]


def test_tokens_and_codes_are_shown_once(daemon: ListeningDaemon) -> None:
    people = [
        daemon.enrol("ann", "agent"),
        daemon.enrol("pat", "human"),
        daemon.enrol("chief", "operator"),
        daemon.enrol("far", "agent", "elsewhere"),
    ]
    gone = daemon.enrol("gone", "agent")
    people[0].ok("POST", "/rooms", {"name": "here"})
    offer = {"name": "later", "kind": "agent", "role": "agent"}
    code = daemon.operator.ok("POST", "/enrollments", offer)["code"]
    daemon.operator.ok("DELETE", "/participants/gone/tokens")
    secrets = [*(str(one.token) for one in (*people, gone)), code]

    callers = [*people, people[0].over_socket(), gone, daemon.operator, Caller(daemon, over="tcp")]
    said = list(_answers(callers))
    said += _tools(people[0])
    assert any('"structuredContent"' in text for text in said), said[-4:]
    for secret in secrets:
        assert not [text for text in said if secret in text]

    # A code that was used, and one that is wrong, are refused without being repeated.
    for wrong in (code[:-1] + "x", code):
        reply = Caller(daemon, over="tcp").call("POST", "/enroll", {"code": wrong})
        if wrong != code:
            assert wrong not in reply.content.decode()
        else:
            secrets.append(reply.body["token"])
    again = Caller(daemon, over="tcp").call("POST", "/enroll", {"code": code})
    assert (again.outcome, code in again.content.decode()) == ("enrollment_invalid", False)

    _check_processes(secrets)
    daemon.stop()
    _check_files(daemon.state_dir, secrets)
    daemon.start()
    assert people[0].over_socket().call("GET", "/me").status == 200


def _check_processes(secrets: list[str]) -> None:
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ"):
            try:
                shown = (process / name).read_bytes()
            except OSError:  # it has ended, or is another user's
                continue
            for secret in secrets:
                assert secret.encode() not in shown, process


def _check_files(state_dir: Path, secrets: list[str]) -> None:
    """The log, and the database with its own log: the hash is there, which tells nothing."""
    found = {path: path.read_bytes() for path in state_dir.rglob("*") if path.is_file()}
    assert any("daemon.log" in path.name for path in found)
    hashes = [hashlib.sha256(secret.encode()).digest() for secret in secrets[:4]]
    assert all(any(one in content for content in found.values()) for one in hashes)
    for secret in secrets:
        for spelling in _spellings(secret):
            assert not [path for path, content in found.items() if spelling in content]
