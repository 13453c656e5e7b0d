"""Agents in a room under faults: they follow it and speak, over the client library or over MCP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Final

from coordrooms import AsyncClient, Event
from coordrooms.follows import Followed
from tests.faults.parties import AN_HOUR, LAST_WORDS, Party
from tests.http_callers import PAUSE_S, LostError
from tests.mcp_callers import ToolCaller
from tests.model.checker import Json, Log

# How often it has something to say to what it hears.
_TALKATIVE: Final = 0.05
_WAITS_S: Final = 20


class Agent(Party):
    """Remembers what it was told: every event by others, once and in order, and what it said."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.has_heard_all = False
        self._ref = self._room.removeprefix("/rooms/")
        self._told: list[int] = []
        self._said: dict[int, str] = {}

    def close(self) -> None:
        """No connection of it is left."""
        raise NotImplementedError

    async def _hear(self, seq: int, body: str | None) -> None:
        self._told.append(seq)
        if body == LAST_WORDS:
            self.has_heard_all = True
        elif self._chances.random() < _TALKATIVE:
            text = f"{self.name} replies to {seq}"
            self._ledger.sends(text)
            self._said[await self._say(text)] = text

    async def _say(self, text: str) -> int:
        """Once, however often it has to be tried; its number."""
        raise NotImplementedError

    def check(self, log: Log) -> None:
        others = [e["seq"] for e in log[self._start : self._told[-1]] if not self._wrote(e)]
        assert self._told == others, f"{self.name} was told {self._told}, not {others}"
        for seq, text in self._said.items():
            assert log[seq - 1]["body"] == text, f"{seq} is not what {self.name} said: {text!r}"

    def _wrote(self, event: Json) -> bool:
        return event["author"] is not None and event["author"]["conversation_id"] == self.name


class LibraryAgent(Agent):
    """Leaves to the client library what is to be tried again."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        socket = self.caller.socket
        self._client = AsyncClient(self.name, url=f"unix:{socket}", patience_s=AN_HOUR)
        self._here = self._client.room(self._ref)
        self._events: AsyncGenerator[Followed, None] = self._here.follow(self._start)

    async def step(self) -> None:
        event = await anext(self._events)
        assert isinstance(event, Event), event
        await self._hear(event.seq, getattr(event, "body", None))

    def close(self) -> None:
        self._client.close()

    async def _say(self, text: str) -> int:
        return (await self._here.post(text)).messages[0].seq


class ToolAgent(Agent):
    """Uses the daemon's tools, as an agent's host does."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        socket = self.caller.socket
        self._tools = ToolCaller(socket.with_name("s-mcp.sock"))
        self._after_seq = self._start

    async def step(self) -> None:
        woken = await self._use(
            "wait", room=self._ref, after_seq=self._after_seq, timeout_s=_WAITS_S
        )
        for event in woken["events"]:
            await self._hear(event["seq"], event.get("body"))
        self._after_seq = woken["next_after_seq"]

    def close(self) -> None:
        self._tools.close()

    async def _say(self, text: str) -> int:
        message = {"kind": "status", "body": text}
        key = text.replace(" ", "_")
        written = await self._use("write_messages", messages=[message], idempotency_key=key)
        seq: int = written["messages"][0]["id"]
        return seq

    async def _use(self, tool: str, **arguments: object) -> Json:
        while True:
            try:
                given = await self._tools.use(tool, conversationId=self.name, **arguments)
            except LostError:
                pass
            else:
                if "code" not in given:
                    return given
                assert given["code"] == "store_unavailable", given
            await asyncio.sleep(PAUSE_S)
