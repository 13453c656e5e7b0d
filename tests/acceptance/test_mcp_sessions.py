"""Agents in their hosts: the SDK's client, `coordrooms mcp`, and a daemon that comes and goes."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.acceptance.daemons import TcpDaemon, running
from tests.acceptance.mcp_hosts import Session, host
from tests.polling import until

API = "http://localhost/api/v1"
ERAS = ("legacy", "2026-07-28")
NUMBERS = count(1)
DECISION = {"kind": "decision", "body": "Use offsets."}


@pytest.fixture(scope="module")
def daemon() -> Iterator[TcpDaemon]:
    """One for all tests: each has its own room and participants, and leaves it running."""
    with running(TcpDaemon()) as daemon:
        yield daemon


def parked(session: Session, **arguments: Any) -> asyncio.Task[Any]:
    return asyncio.create_task(session("wait", **arguments))


def bodies(events: list[dict[str, Any]]) -> list[str]:
    return [event["body"] for event in events if event["type"] == "message"]


@pytest.fixture
def room() -> str:
    return f"room-{next(NUMBERS)}"


@pytest.mark.parametrize("era", ERAS)
async def test_two_agents_wake_each_other(daemon: TcpDaemon, room: str, era: str) -> None:
    ann_name, bob_name = f"ann-{room}", f"bob-{room}"
    async with host(daemon, ann_name, era) as ann, host(daemon, bob_name, era) as bob:
        cursor = (await ann("create_room", roomName=f"  {room.title()} "))["next_cursor"]
        joined = await bob("join_room", roomName=room)

        ann_waits = parked(ann, cursor=cursor)
        question = {"kind": "question", "body": "Which port?"}
        asked = (await bob("write_messages", messages=[question]))["messages"][0]
        woken = (await ann_waits)["rooms"][room]
        assert bodies(woken["events"]) == ["Which port?"]
        assert woken["events"][-1]["trust"] == "peer"

        bob_waits = parked(bob, cursor=joined["next_cursor"])
        answer = {"kind": "answer", "body": "8080", "replyToMessageId": asked["id"]}
        await ann("write_messages", messages=[answer])
        assert bodies((await bob_waits)["rooms"][room]["events"]) == ["8080"]

        history = (await ann("list_room_messages"))["messages"]
        assert [(m["body"], m.get("trust")) for m in history] == [
            ("Which port?", "peer"),
            ("8080", None),
        ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_restart_goes_unnoticed(
    daemon: TcpDaemon, room: str, number: signal.Signals
) -> None:
    ann_name, bob_name = f"ann-{room}", f"bob-{room}"
    async with host(daemon, ann_name, ERAS[0]) as ann, host(daemon, bob_name, ERAS[1]) as bob:
        await ann("create_room", roomName=room)
        cursor = (await bob("join_room", roomName=room))["next_cursor"]
        waits = [parked(bob, cursor=cursor), parked(ann, room=room)]
        await until(lambda: is_waiting(daemon, ann_name, parked=[ann_name, bob_name]))

        await asyncio.to_thread(daemon.end, number)
        # There is nobody to take it; the next daemon does.
        writing = asyncio.create_task(
            ann("write_messages", messages=[DECISION], idempotency_key="k")
        )
        await asyncio.to_thread(daemon.start)

        first = await writing
        await bob("write_messages", messages=[{"kind": "status", "body": "seen"}])
        woken = [await wait for wait in waits]
        assert bodies(woken[0]["rooms"][room]["events"])[0] == "Use offsets."
        assert bodies(woken[1]["events"]) == ["seen"]
        again = await ann("write_messages", messages=[DECISION], idempotency_key="k")
        assert again == first
        assert len((await ann("list_room_messages"))["messages"]) == 2


async def test_without_a_daemon_tools_say_so_and_work_once_there_is_one(daemon: TcpDaemon) -> None:
    await asyncio.to_thread(daemon.stop)
    async with host(daemon, "somebody") as session:
        assert (await session.failure("list_active_rooms"))["code"] == "daemon_unreachable"
        await asyncio.to_thread(daemon.start)
        assert "rooms" in await session("list_active_rooms")


async def test_a_host_that_ends_leaves_no_waiter(daemon: TcpDaemon, room: str) -> None:
    async with host(daemon, f"ann-{room}") as ann:
        await ann("create_room", roomName=room)
        async with host(daemon, f"ann-{room}") as other:
            waiting = parked(other, room=room)
            await until(lambda: is_waiting(daemon, f"ann-{room}"))
        await asyncio.gather(waiting, return_exceptions=True)
        await until(is_false(lambda: is_waiting(daemon, f"ann-{room}")))


@pytest.mark.parametrize("era", ERAS)
async def test_the_same_tools_are_at_mcp(daemon: TcpDaemon, room: str, era: str) -> None:
    bearer = {"Authorization": f"Bearer {await enrolled(daemon, f'ann-{room}')}"}
    async with httpx2.AsyncClient(headers=bearer) as over_tcp:
        transport = streamable_http_client(f"{daemon.tcp_url}/mcp", http_client=over_tcp)
        async with Client(transport, mode=era) as client:
            assert len((await client.list_tools()).tools) == 14
            session = Session(client)
            made = await session("create_room", roomName=room)
            assert made["membership"]["conversationId"] == f"ann-{room}"
            assert (await session("wait", room=room, timeout_s=0))["reason"] == "timeout"


async def test_an_agent_elsewhere_acts_as_its_token(
    daemon: TcpDaemon, room: str, tmp_path: Path
) -> None:
    name = f"remote-{room}"
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_text(await enrolled(daemon, name))
    env = {"COORDROOMS_URL": daemon.tcp_url, "COORDROOMS_TOKEN_FILE": str(file)}
    async with (
        host(daemon, f"{name}/1", **env) as remote,
        host(daemon, f"ann-{room}", ERAS[1]) as ann,
    ):
        made = await remote("create_room", roomName=room)
        assert made["membership"]["conversationId"] == f"{name}/1"
        await ann("join_room", roomName=room)
        waiting = parked(remote, cursor=made["next_cursor"])
        await until(lambda: is_waiting(daemon, f"ann-{room}", parked=[f"{name}/1"]))

        await asyncio.to_thread(daemon.kill)
        await asyncio.to_thread(daemon.start)

        await ann("write_messages", messages=[DECISION])
        assert bodies((await waiting)["rooms"][room]["events"]) == ["Use offsets."]
        file.write_text("not-the-token")
        async with host(daemon, f"{name}/1", **env) as stranger:
            assert (await stranger.failure("list_active_rooms"))["code"] == "unauthorized"


async def enrolled(daemon: TcpDaemon, name: str) -> str:
    """The token of a new agent."""
    async with http(daemon) as operator:
        asked = {"name": name, "kind": "agent", "role": "agent", "expires_in_s": 60}
        code = (await operator.post(f"{API}/enrollments", json=asked)).json()["code"]
        answer = (await operator.post(f"{API}/enroll", json={"code": code})).json()
    return str(answer["token"])


def http(daemon: TcpDaemon, conversation: str | None = None) -> httpx2.AsyncClient:
    """The HTTP API on the socket, for that participant or for the operator."""
    headers = {"Coordrooms-Conversation": conversation} if conversation else {}
    return httpx2.AsyncClient(
        transport=httpx2.AsyncHTTPTransport(uds=str(daemon.socket)), headers=headers
    )


async def is_waiting(daemon: TcpDaemon, member: str, parked: Iterable[str] = ()) -> bool:
    """Whether `member` (or all of `parked`) waits, as the list of its active room says."""
    async with http(daemon, member) as client:
        rows = (await client.get(f"{API}/rooms/@active/members")).json()["members"]
    waiting = {row["conversation_id"] for row in rows if row["waiting"]}
    return waiting >= set(parked or [member])


def is_false(condition: Callable[[], Awaitable[bool]]) -> Callable[[], Awaitable[bool]]:
    async def negated() -> bool:
        return not await condition()

    return negated
