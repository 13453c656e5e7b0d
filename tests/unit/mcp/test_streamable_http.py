"""`/mcp`: the SDK's client over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Receive, Scope, Send

from coordroomsd.api.callers import Caller
from coordroomsd.domain.errors import Refusal
from coordroomsd.mcp.gateways import Gateway
from coordroomsd.mcp.transports import MESSAGE_MAX_BYTES
from tests.unit.mcp.fakes import FakeApi, Parked, membership, news, room
from tests.unit.mcp.sessions import DEADLINE_S, ERAS, handshake, request, serving

# Whoever calls holds this token.
ANN = Caller("default", "agent", "agent", "ann-1", ("token", 1))
JOINED = {"room": room(), "membership": membership(), "next_after_seq": 1}
WAIT = {"room": "r"}
HEADERS = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def api() -> FakeApi:
    return FakeApi({"GET /rooms": {"rooms": [], "has_more": False}, "POST /rooms/r/join": JOINED})


@pytest.fixture
async def gateway(api: FakeApi, tmp_path: Path) -> AsyncIterator[Gateway]:
    async with serving(api, tmp_path / "mcp.sock") as gateway:
        yield gateway


@pytest.fixture
async def url(gateway: Gateway) -> AsyncIterator[str]:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await gateway.http(ANN, scope, receive, send)

    config = uvicorn.Config(
        app, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(100)
        listening.setblocking(False)
        serving_http = asyncio.create_task(server.serve([listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            await gateway.stop()
            server.should_exit = True
            await serving_http


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_lists_and_calls_as_its_token(api: FakeApi, url: str, era: str) -> None:
    async with Client(url, mode=era) as session:
        assert len((await session.list_tools()).tools) == 14
        result = await session.call_tool("join_room", {"roomName": "r"})
    assert not result.is_error
    assert api.callers == [ANN]
    assert api.asked[0].conversation is None


@pytest.mark.parametrize("era", ERAS)
async def test_the_header_names_who_acts(api: FakeApi, url: str, era: str) -> None:
    headers = {"Coordrooms-Conversation": "ann-1/zo%C3%AB"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=DEADLINE_S) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as session,
    ):
        await session.call_tool("join_room", {"roomName": "r"})
    assert api.asked[0].conversation == "ann-1/zo%C3%AB"


@pytest.mark.parametrize("era", ERAS)
async def test_a_bad_header_is_a_failure_of_the_call(api: FakeApi, url: str, era: str) -> None:
    async with (
        httpx2.AsyncClient(headers={"Coordrooms-Conversation": "%zz"}) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as session,
    ):
        result = await session.call_tool("join_room", {"roomName": "r"})
    assert result.structured_content is not None
    assert result.structured_content["errors"][0]["field"] == "conversationId"
    assert api.asked == []


@pytest.mark.parametrize("era", ERAS)
async def test_a_cancelled_wait_leaves_the_api(api: FakeApi, url: str, era: str) -> None:
    api.answers["GET /rooms/r/wait"] = parked = Parked(news("r"))
    async with Client(url, mode=era) as session:
        waiting = asyncio.create_task(session.call_tool("wait", WAIT))
        await parked.entered.wait()
        waiting.cancel()
        await parked.gone.wait()


@pytest.mark.parametrize("era", ERAS)
async def test_stopping_answers_who_is_parked(
    api: FakeApi, gateway: Gateway, url: str, era: str
) -> None:
    api.answers["GET /rooms/r/wait"] = parked = Parked(news("r", "closing"))
    async with Client(url, mode=era) as session:
        await session.list_tools()  # else the client would ask for them after the call
        waiting = asyncio.create_task(session.call_tool("wait", WAIT))
        await parked.entered.wait()
        stopping = asyncio.create_task(gateway.stop())
        parked.released.set()
        answer = (await waiting).structured_content
        await stopping
    assert answer is not None
    assert answer["result"]["reason"] == "closing"


async def test_a_connection_that_breaks_takes_its_modern_wait_along(api: FakeApi, url: str) -> None:
    api.answers["GET /rooms/r/wait"] = parked = Parked(news("r"))
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = request(1, "tools/call", name="wait", arguments=WAIT, _meta=meta)
    headers = HEADERS | {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "wait",
    }
    async with httpx2.AsyncClient(timeout=DEADLINE_S) as http:
        posting = asyncio.create_task(http.post(url, json=call, headers=headers))
        await parked.entered.wait()
        posting.cancel()
        await parked.gone.wait()


@pytest.mark.parametrize("era", ERAS)
async def test_a_relay_may_come_over_http(api: FakeApi, url: str, era: str) -> None:
    api.answers["GET /rooms/r/wait"] = parked = Parked(news("r"))
    relay = StdioServerParameters(
        command=sys.executable,
        args=["-m", "coordrooms", "mcp", "--as", "ann-1/zoë", "--url", url.removesuffix("/mcp")],
        env=dict(os.environ),
    )
    async with Client(relay, mode=era) as session:
        await session.list_tools()
        assert not (await session.call_tool("join_room", {"roomName": "r"})).is_error
        assert api.asked[-1].conversation == "ann-1/zo%C3%AB"
        waiting = asyncio.create_task(session.call_tool("wait", WAIT))
        await parked.entered.wait()
        waiting.cancel()
        await parked.gone.wait()
        api.answers["GET /rooms/r/wait"] = news("r")
        assert not (await session.call_tool("wait", WAIT)).is_error


async def test_a_request_is_as_large_as_any_other(url: str) -> None:
    call = request(1, "tools/call", name="wait", arguments={"room": "x" * MESSAGE_MAX_BYTES})
    async with httpx2.AsyncClient() as http:
        assert (await http.post(url, json=call, headers=HEADERS)).status_code == 413


async def test_no_log_has_the_id_of_a_session(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        async with httpx2.AsyncClient(timeout=DEADLINE_S) as http:
            opened = await http.post(url, json=handshake()[0], headers=HEADERS)
    assert opened.headers["mcp-session-id"] not in caplog.text


async def test_the_end_of_the_daemon_ends_open_streams(gateway: Gateway, url: str) -> None:
    async with httpx2.AsyncClient(timeout=DEADLINE_S) as http:
        opened = await http.post(url, json=handshake()[0], headers=HEADERS)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        async with http.stream("GET", url, headers=HEADERS | session) as stream:
            await gateway.stop()
            async for _ in stream.aiter_raw():
                pass


@pytest.mark.parametrize("loaded", [True, False])
async def test_who_comes_while_the_daemon_stops_is_refused(
    api: FakeApi, tmp_path: Path, loaded: bool
) -> None:
    async with serving(api, tmp_path / "other.sock", loaded=loaded) as gateway:
        await gateway.stop()

        async def receive() -> dict[str, object]:
            raise AssertionError("nothing is read")

        async def send(_: object) -> None:
            raise AssertionError("nothing is sent")

        with pytest.raises(Refusal, match="store_unavailable"):
            await gateway.http(ANN, {"type": "http"}, receive, send)
