"""Sessions of the MCP socket: the SDK's client, the relay's lines, and the end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from mcp.types import TextContent

from coordroomsd.domain.errors import Refusal
from coordroomsd.mcp import gateways, tool_servers
from coordroomsd.mcp.gateways import Gateway
from coordroomsd.mcp.transports import MESSAGE_MAX_BYTES
from tests.unit.mcp.fakes import FakeApi, Parked, membership, news, room
from tests.unit.mcp.sessions import ERAS, client, greeted, handshake, raw, request, serving

ROOMS = {"rooms": [], "has_more": False}
HELLO = {"coordrooms": 1, "conversation": "ann-1", "client_pid": 7}
JOINED = {"room": room(), "membership": membership(), "next_after_seq": 1}


@pytest.fixture
def api() -> FakeApi:
    return FakeApi({"GET /rooms": ROOMS, "POST /rooms/r/join": JOINED})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mcp.sock"


@pytest.fixture
async def gateway(api: FakeApi, path: Path) -> AsyncIterator[Gateway]:
    async with serving(api, path) as gateway:
        yield gateway


# --- the SDK's client ------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_lists_and_calls(gateway: Gateway, path: Path, era: str) -> None:
    async with client(path, era) as session:
        assert len((await session.list_tools()).tools) == 14
        result = await session.call_tool("list_active_rooms")
    assert result.structured_content == {"result": {"rooms": []}}
    [content] = result.content
    assert isinstance(content, TextContent)
    assert json.loads(content.text) == result.structured_content
    assert not result.is_error


@pytest.mark.parametrize("era", ERAS)
async def test_a_failure_is_a_result(gateway: Gateway, api: FakeApi, path: Path, era: str) -> None:
    api.answers["POST /rooms"] = Refusal("room_name_conflict", "The name is taken.")
    given = {"roomName": "r", "conversationId": "ann-1"}
    async with client(path, era) as session:
        result = await session.call_tool("create_room", given)
    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["code"] == "room_name_conflict"
    assert set(result.structured_content) == {"code", "message", "recovery"}


@pytest.mark.parametrize("era", ERAS)
async def test_no_bug_tells_its_text(
    gateway: Gateway, api: FakeApi, path: Path, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    api.answers["GET /rooms"] = ZeroDivisionError("a secret")
    async with client(path, era) as session:
        result = await session.call_tool("list_active_rooms")
    assert result.is_error
    assert "secret" not in result.model_dump_json()
    assert "a secret" in caplog.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_that_is_not_there_is_refused(gateway: Gateway, path: Path, era: str) -> None:
    async with client(path, era) as session:
        result = await session.call_tool("delete_room", {})
    assert result.structured_content is not None
    assert result.structured_content["code"] == "not_found"


@pytest.mark.parametrize("era", ERAS)
async def test_a_cancelled_wait_leaves_the_api(
    gateway: Gateway, api: FakeApi, path: Path, era: str
) -> None:
    api.answers["GET /rooms/r/wait"] = parked = Parked(news("r"))
    given = {"room": "r", "conversationId": "ann-1"}
    async with client(path, era) as session:
        waiting = asyncio.create_task(session.call_tool("wait", given))
        await parked.entered.wait()
        waiting.cancel()
        await parked.gone.wait()
        assert not (await session.call_tool("list_active_rooms")).is_error


@pytest.mark.parametrize("era", ERAS)
async def test_a_wait_blocks_no_other_tool(
    gateway: Gateway, api: FakeApi, path: Path, era: str
) -> None:
    api.answers["GET /rooms/r/wait"] = parked = Parked(news("r"))
    given = {"room": "r", "conversationId": "ann-1"}
    async with client(path, era) as session:
        waiting = asyncio.create_task(session.call_tool("wait", given))
        await parked.entered.wait()
        assert not (await session.call_tool("list_active_rooms")).is_error
        parked.released.set()
        woken = (await waiting).structured_content
    assert woken is not None
    assert woken["result"]["next_cursor"] == "r:9@g1"


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_leaves_takes_its_wait_along(
    gateway: Gateway, api: FakeApi, path: Path, era: str
) -> None:
    api.answers["GET /rooms/r/wait"] = parked = Parked(news("r"))
    given = {"room": "r", "conversationId": "ann-1"}
    async with client(path, era) as session:
        waiting = asyncio.create_task(session.call_tool("wait", given))
        await parked.entered.wait()
    await parked.gone.wait()
    await asyncio.gather(waiting, return_exceptions=True)


@pytest.mark.parametrize("era", ERAS)
async def test_a_long_wait_reports_progress(
    gateway: Gateway, api: FakeApi, path: Path, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_servers, "PROGRESS_EVERY_S", 0.01)
    api.answers["GET /rooms/r/wait"] = parked = Parked(news("r"))
    reported: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        reported.append(progress)
        if len(reported) == 3:
            parked.released.set()

    given = {"room": "r", "conversationId": "ann-1"}
    async with client(path, era) as session:
        await session.call_tool("wait", given, progress_callback=note)
    assert reported[:3] == pytest.approx([0.01, 0.02, 0.03])


@pytest.mark.parametrize("era", ERAS)
async def test_the_wait_is_cut_for_the_host_that_calls(
    gateway: Gateway, api: FakeApi, path: Path, era: str
) -> None:
    api.answers["GET /rooms/r/wait"] = news("r")
    given = {"room": "r", "conversationId": "ann-1", "timeout_s": 300}
    for name, seconds in (("claude-code", "110.0"), ("nobody", "50.0")):
        async with client(path, era, name) as session:
            await session.call_tool("wait", given)
        assert api.asked[-1].query["timeout_s"] == seconds


# --- who calls -------------------------------------------------------------------------------


async def test_the_caller_is_the_peer_of_the_socket(
    gateway: Gateway, api: FakeApi, path: Path
) -> None:
    async with greeted(path, HELLO) as peer:
        await peer.call(1, "join_room", roomName="r")
        await peer.receive()
    assert api.callers[0].credential == ("uid", os.geteuid())
    assert api.asked[0].conversation == "ann-1"


@pytest.mark.parametrize(
    "hello",
    [
        {"coordrooms": 1},
        {"coordrooms": 1, "conversation": None},
        {"coordrooms": 2, "conversation": 7, "something": "new"},
        {"coordrooms": 1, "conversation": ""},
    ],
)
async def test_a_session_without_a_name_has_to_say_who_acts(
    gateway: Gateway, api: FakeApi, path: Path, hello: dict[str, object]
) -> None:
    async with greeted(path, hello) as peer:
        await peer.call(1, "join_room", roomName="r")
        failure = (await peer.receive())["result"]["structuredContent"]
        assert failure["code"] == "conversation_required"
        await peer.call(2, "join_room", roomName="r", conversationId="bob-1")
        assert not (await peer.receive())["result"].get("isError")
    assert api.asked[0].conversation == "bob-1"


async def test_a_call_may_name_another_than_the_session(
    gateway: Gateway, api: FakeApi, path: Path
) -> None:
    async with greeted(path, HELLO) as peer:
        await peer.call(1, "join_room", roomName="r", conversationId="ann-1/helper")
        await peer.receive()
    assert api.asked[0].conversation == "ann-1/helper"


async def test_a_threads_id_is_nobodys(gateway: Gateway, api: FakeApi, path: Path) -> None:
    async with greeted(path) as peer:
        await peer.call(1, "join_room", roomName="r", conversationId="room_0000000000abc")
        failure = (await peer.receive())["result"]["structuredContent"]
    assert failure["code"] == "invalid_arguments"
    assert failure["errors"][0]["field"] == "conversationId"
    assert api.asked == []


async def test_the_users_own_limit_and_the_time_at_an_earlier_daemon_count(
    gateway: Gateway, api: FakeApi, path: Path
) -> None:
    api.answers["GET /rooms/r/wait"] = news("r")
    async with greeted(path, HELLO | {"max_wait_s": 25}) as peer:
        call = request(1, "tools/call", name="wait", arguments={"room": "r"})
        for waited_s in (20.5, -1, True, "1", None):
            call["params"]["_meta"] = {tool_servers.WAITED_KEY: waited_s}
            peer.send(call)
            await peer.receive()
    timeouts = [float(str(asked.query["timeout_s"])) for asked in api.asked]
    assert timeouts == [4.5, 25, 25, 25, 25]


async def test_numbers_are_of_the_generation_that_the_relay_names(
    gateway: Gateway, api: FakeApi, path: Path
) -> None:
    api.answers["GET /rooms/r/wait"] = news("r")
    async with greeted(path, HELLO) as peer:
        call = request(1, "tools/call", name="wait", arguments={"room": "r"})
        for generation in ("g0", "", 7, None):
            call["params"]["_meta"] = {tool_servers.GENERATION_KEY: generation}
            peer.send(call)
            await peer.receive()
    assert [asked.query.get("generation") for asked in api.asked] == ["g0", None, None, None]


# --- bad lines -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (b"{", None, -32700),
        (b"\xff", None, -32700),
        (b"[" * 100_000, None, -32700),
        (b"[]", None, -32600),
        (b"x" * (MESSAGE_MAX_BYTES + 1), None, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}', 7, -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"\\ud800"}}', 7, -32600),
        (b'{"id":"a","method":"ping"}', "a", -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":[]}}', 7, -32602),
        (b'{"jsonrpc":"2.0","id":7,"method":"prompts/list"}', 7, -32601),
    ],
)
async def test_a_bad_line_is_answered_and_harms_nobody(
    gateway: Gateway, path: Path, line: bytes, request_id: object, code: int
) -> None:
    async with greeted(path) as peer:
        peer.send(line)
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == (request_id, code)
        peer.send(request(8, "ping"))
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 8, "result": {}}


async def test_a_bad_first_line_is_answered_too(gateway: Gateway, path: Path) -> None:
    async with raw(path) as peer:
        peer.send(b"GET / HTTP/1.1")
        assert (await peer.receive())["error"]["code"] == -32700


# --- the end ---------------------------------------------------------------------------------


async def test_stopping_lets_calls_end_and_then_closes(api: FakeApi, path: Path) -> None:
    api.answers["GET /rooms/r/wait"] = parked = Parked(news("r", "closing"))
    async with serving(api, path) as gateway, greeted(path, HELLO) as peer:
        await peer.call(1, "wait", room="r")
        await parked.entered.wait()
        stopping = asyncio.create_task(gateway.stop())
        parked.released.set()
        answer = await peer.receive()
        assert answer["result"]["structuredContent"]["result"]["reason"] == "closing"
        with pytest.raises(EOFError):
            await peer.receive()
        await stopping


async def test_what_does_not_end_in_time_stays_without_an_answer(api: FakeApi, path: Path) -> None:
    api.answers["POST /rooms/r/join"] = parked = Parked(JOINED)
    async with serving(api, path) as gateway, greeted(path, HELLO) as peer:
        await peer.call(1, "join_room", roomName="r")
        await parked.entered.wait()
        await gateway.stop(within_s=0)
        with pytest.raises(EOFError):
            await peer.receive()
        assert parked.gone.is_set()


async def test_who_connects_before_the_sdk_is_there_is_served_then(
    api: FakeApi, path: Path
) -> None:
    async with serving(api, path, loaded=False) as gateway, raw(path) as peer:
        peer.send(*handshake())
        running = asyncio.create_task(gateway.run())
        assert (await peer.receive())["result"]["serverInfo"]["name"] == "coordrooms"
        await gateway.stop()
        await running


async def test_stopping_before_the_sdk_is_there_turns_everybody_away(
    api: FakeApi, path: Path
) -> None:
    async with serving(api, path, loaded=False) as gateway, raw(path) as peer:
        peer.send(*handshake())
        await gateway.stop()
        with pytest.raises((EOFError, ConnectionResetError)):
            await peer.receive()
        await gateway.run()


async def test_stopping_while_the_sdk_starts_is_no_fault(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, may_serve = asyncio.Event(), asyncio.Event()

    class Starting:
        def __init__(self, api: object, tracing: object) -> None: ...

        @contextlib.asynccontextmanager
        async def running(self) -> AsyncIterator[None]:
            entered.set()
            await may_serve.wait()
            yield

    imported: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    imported.set_result(SimpleNamespace(Servers=Starting))
    monkeypatch.setattr(gateways, "_imported", lambda module: imported)
    async with serving(FakeApi({}), path) as gateway:
        await entered.wait()
        await gateway.stop()
        may_serve.set()


async def test_the_sdk_waits_for_free_descriptors(
    api: FakeApi, path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    text = os.strerror(errno.EMFILE)
    faults: list[Exception] = [OSError(errno.EMFILE, text), ImportError(f"lib.so: {text}")]
    import_module = importlib.import_module

    def import_late(name: str) -> ModuleType:
        if faults:
            raise faults.pop()
        return import_module(name)

    monkeypatch.setattr(gateways, "RETRY_IMPORT_AFTER_S", 0)
    monkeypatch.setattr(importlib, "import_module", import_late)
    async with serving(api, path), client(path, ERAS[0]) as session:
        assert not (await session.call_tool("list_active_rooms")).is_error
    assert caplog.text.count("no file is left") == 1


def test_the_gateway_imports_no_sdk() -> None:
    script = f"import sys, {gateways.__name__}; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
