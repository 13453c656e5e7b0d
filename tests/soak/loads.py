"""A day's traffic at a fixed rate: all sorts of calls, some from those who come and go."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from tests.faults.strangers import connected
from tests.http_callers import Caller, Reply
from tests.mcp_callers import ToolCaller

ROOMS: Final = 10
# In each room; each of them calls, and some wait beside that.
MEMBERS, WAITING = 10, 4
BODY: Final = "x" * 200


class UnexpectedError(Exception):
    """An answer that a healthy daemon does not give here."""


class Member:
    """Calls now and then, about as often as the next one."""

    def __init__(self, socket: Path, room: str, name: str, counts: Counter[str]) -> None:
        self.caller = Caller(socket, name)
        self._waiting = Caller(socket, name)
        self._socket = socket
        self._room = room
        self._path = f"/rooms/{room}"
        self._name = name
        self._counts = counts
        self._chances = random.Random(name)
        self._said: list[int] = []
        self._after_seq = 0
        sorts: dict[Callable[[], Awaitable[None]], int] = {
            self._post: 45, self._read: 15, self._react: 10, self._set_status: 6, self._claim: 8,
            self._fetch: 6, self._look: 4, self._leave: 1, self._stream: 2, self._abandon: 2,
            self._use_tools: 1,
        }  # fmt: skip
        self.steps, self._weights = list(sorts), list(sorts.values())

    async def join(self) -> None:
        reply = await self._call("POST", f"{self._path}/join", also=(404,))
        if reply.status == 404:
            reply = await self._call("POST", "/rooms", {"name": self._room})
        self._after_seq = reply.body["next_after_seq"]

    async def call_every(self, seconds: float) -> None:
        """On the average; runs until cancelled."""
        while True:
            await asyncio.sleep(self._chances.expovariate(1 / seconds))
            [step] = self._chances.choices(self.steps, self._weights)
            self._counts[step.__name__.strip("_")] += 1
            await step()
            if self._chances.random() < 0.02:
                self.caller.close()

    async def wait_on(self) -> None:
        """Wait, and be woken, and wait; runs until cancelled."""
        after_seq = self._after_seq
        while True:
            path = f"{self._path}/wait"
            reply = await self._waiting.call("GET", path, after_seq=after_seq, timeout_s=20)
            # Its own other half leaves the room now and then.
            if reply.status == 200:
                self._counts[f"woken by {reply.body['reason']}"] += 1
                after_seq = reply.body["next_after_seq"]
            elif reply.body["code"] == "active_membership_not_found":
                await asyncio.sleep(0.1)
            else:
                raise UnexpectedError(f"wait: {reply}")

    def close(self) -> None:
        self.caller.close()
        self._waiting.close()

    async def _post(self) -> None:
        body = {"messages": [{"kind": "decision", "body": BODY}]}
        key = f"{self._chances.random()}" if self._chances.random() < 0.5 else None
        reply = await self._call("POST", f"{self._path}/messages", body, idempotency_key=key)
        self._said = [*self._said[-20:], reply.body["latest_seq"]]

    async def _read(self) -> None:
        after_seq = max(0, (self._said or [0])[-1] - self._chances.randint(1, 500))
        await self._call("GET", f"{self._path}/messages", after_seq=after_seq, limit=20)

    async def _react(self) -> None:
        if self._said:
            target = self._chances.choice(self._said)
            method = self._chances.choice(("PUT", "DELETE"))
            # It may have been removed by now.
            path = f"{self._path}/messages/{target}/reactions/like"
            await self._call(method, path, also=(404,))

    async def _set_status(self) -> None:
        text = f"at {self._chances.randrange(10**6)}"
        await self._call("PUT", f"{self._path}/status", {"status": text, "expires_in_s": 5})

    async def _claim(self) -> None:
        key = self._chances.choice(("a", "b", "c"))
        reply = await self._call("POST", f"{self._path}/claims", {"key": key}, also=(409,))
        if reply.status == 200:
            await self._call("DELETE", f"{self._path}/claims", key=key)

    async def _fetch(self) -> None:
        [unread] = (await self._call("GET", "/unread", limit=50)).body["unread"]
        await self._call("POST", "/cursor", {"cursors": {self._room: unread["through_seq"]}})

    async def _look(self) -> None:
        await self._call("GET", self._path)
        await self._call("GET", f"{self._path}/members")

    async def _leave(self) -> None:
        await self._call("POST", f"{self._path}/leave")
        await self._call("POST", f"{self._path}/join")

    async def _stream(self) -> None:
        async with connected(self._socket) as writer:
            writer.write(self._request(f"{self._path}/events", "Accept: text/event-stream"))
            await asyncio.sleep(self._chances.uniform(0, 1))

    async def _abandon(self) -> None:
        async with connected(self._socket) as writer:
            writer.write(self._request(f"{self._path}/wait?timeout_s=60&wake_on=expiry", "X: x"))
            await asyncio.sleep(self._chances.uniform(0, 1))

    async def _use_tools(self) -> None:
        tools = ToolCaller(self._socket.with_name("s-mcp.sock"))
        await tools.list()
        given = await tools.use("list_active_rooms")
        if "code" in given:
            raise UnexpectedError(f"list_active_rooms: {given}")
        tools.close()

    def _request(self, path: str, header: str) -> bytes:
        lines = [f"GET /api/v1{path} HTTP/1.1", "Host: localhost", header]
        return "\r\n".join([*lines, f"Coordrooms-Conversation: {self._name}", "", ""]).encode()

    async def _call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        also: tuple[int, ...] = (),
        **how: object,
    ) -> Reply:
        reply = await self.caller.call(method, path, body, **how)  # type: ignore[arg-type]
        if reply.status not in (200, 201, *also):
            raise UnexpectedError(f"{method} {path}: {reply}")
        return reply
