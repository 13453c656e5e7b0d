"""What the relay answers without a daemon."""

from __future__ import annotations

import importlib.resources
from typing import Any

import pytest

from coordrooms.relay_answers import HANDSHAKE_VERSIONS, failure, local_answer, parsed
from tests.unit.client.relay_ends import INITIALIZE, MODERN


def answered(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    answer = local_answer({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    assert answer is not None
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 1)
    return answer


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_speaks_the_version_asked_for(version: str) -> None:
    result = answered("initialize", INITIALIZE | {"protocolVersion": version})["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "coordrooms"
    assert "tools" in result["capabilities"]
    assert "trust" in result["instructions"]


@pytest.mark.parametrize("version", ["2023-01-01", "2026-07-28", ""])
def test_offers_its_latest_version_for_one_without_handshake(version: str) -> None:
    result = answered("initialize", INITIALIZE | {"protocolVersion": version})["result"]
    assert result["protocolVersion"] == HANDSHAKE_VERSIONS[-1]


def test_refuses_a_modern_version_it_does_not_serve() -> None:
    meta = MODERN | {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    error = answered("tools/list", {"_meta": meta})["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


def test_has_no_answer_to_a_call() -> None:
    for method in ("tools/call", "prompts/list", "server/discover", "no/such"):
        assert local_answer({"jsonrpc": "2.0", "id": 1, "method": method}) is None


def test_its_tools_are_the_daemons() -> None:
    copies = [importlib.resources.files(package) for package in ("coordrooms", "coordroomsd.mcp")]
    ours, theirs = ((copy / "tools.json").read_text() for copy in copies)
    assert ours == theirs
    assert answered("tools/list")["result"]["tools"] == parsed(theirs.encode())["tools"]


def test_a_failure_of_a_tool_is_a_result() -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}}
    result = failure(call, "daemon_unreachable", "Nobody.", "Start it.")["result"]
    assert result["isError"] is True
    assert result["structuredContent"] == {
        "code": "daemon_unreachable",
        "message": "Nobody.",
        "recovery": "Start it.",
    }
