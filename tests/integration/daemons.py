"""A daemon inside the test's own process, without sockets, and parties that call it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import orjson

from coordroomsd import app, chores
from coordroomsd.api.callers import Caller
from coordroomsd.api.services import Services
from coordroomsd.clock import Clock
from coordroomsd.config import Config
from coordroomsd.settings import (
    Cluster,
    Conversations,
    Limits,
    Log,
    Retention,
    Server,
    Tracing,
)
from coordroomsd.settings import Database as DatabaseSection
from coordroomsd.store.database import Database
from coordroomsd.store.sessions import ConnectArguments
from tests.integration.documented import check_documented
from tests.integration.stored_logs import check_stored

Json = dict[str, Any]

SOCKET = Caller("default", "agent", "agent", None, ("uid", 1000))
OPERATOR = Caller("default", "agent", "operator", None, ("uid", 0))
NO_LIMITS = Limits(
    message_burst=0,
    body_kib_burst=0,
    status_burst=0,
    reaction_burst=0,
    claim_burst=0,
    room_burst=0,
)


def message(body: str) -> Json:
    """What posts one message."""
    return {"messages": [{"kind": "decision", "body": body}]}


def bodies(events: list[Json]) -> list[str]:
    """What was said, without all that happened beside it."""
    return [event["body"] for event in events if event["type"] == "message"]


def no_jitter() -> float:
    return 0.0


def config(limits: Limits = NO_LIMITS) -> Config:
    nowhere = Path("/nonexistent")
    return Config(
        state_dir=nowhere,
        database=DatabaseSection(),
        server=Server(
            socket=str(nowhere / "coordroomsd.sock"),  # type: ignore[arg-type]
            mcp_socket=str(nowhere / "coordroomsd-mcp.sock"),  # type: ignore[arg-type]
        ),
        limits=limits,
        retention=Retention(),
        conversations=Conversations(),
        log=Log(),
        tracing=Tracing(),
        cluster=Cluster(),
        sources={},
    )


class Reply(NamedTuple):
    status: int
    body: Json
    replayed: bool


@dataclass(frozen=True)
class Party:
    """Somebody who calls: under `name`, or under the caller's own when that is None."""

    daemon: app.Daemon
    name: str | None
    caller: Caller = field(default=SOCKET)

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        idempotency_key: str | None = None,
        **query: Any,
    ) -> Reply:
        """The answer, which is one that the call may give."""
        answer = await self.daemon.api.call(
            self.caller,
            method,
            path,
            conversation=self.name,
            query=_texts(query),
            body=body,
            key=idempotency_key,
        )
        reply = Reply(answer.status, orjson.loads(answer.body), answer.replayed)
        if reply.body.get("code") not in ("not_found", "method_not_allowed"):
            operation, _ = self.daemon.api.routes.match(method, path)
            check_documented(operation, reply.status, reply.body)
        return reply

    async def ok(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        idempotency_key: str | None = None,
        **query: Any,
    ) -> Json:
        """The answer to a call that succeeds."""
        reply = await self.call(method, path, body, idempotency_key=idempotency_key, **query)
        assert reply.status < 300, reply.body
        return reply.body

    async def refused(
        self,
        code: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        idempotency_key: str | None = None,
        **query: Any,
    ) -> Json:
        """The problem of a call that is refused with this code."""
        reply = await self.call(method, path, body, idempotency_key=idempotency_key, **query)
        assert reply.body.get("code") == code, reply.body
        return reply.body

    async def create(self, room: str) -> Json:
        return await self.ok("POST", "/rooms", {"name": room})

    async def join(self, room: str) -> Json:
        return await self.ok("POST", f"/rooms/{quote(room)}/join")

    async def leave(self, room: str) -> Json:
        return await self.ok("POST", f"/rooms/{quote(room)}/leave")

    async def say(self, room: str, *bodies: str, kind: str = "decision") -> list[int]:
        """The numbers of messages that it posts."""
        messages = [{"kind": kind, "body": body} for body in bodies or ("hello",)]
        posted = await self.ok("POST", f"/rooms/{quote(room)}/messages", {"messages": messages})
        return [message["seq"] for message in posted["messages"]]

    async def wait(self, room: str, after_seq: int | None = None, **query: Any) -> Json:
        if after_seq is not None:
            query["after_seq"] = after_seq
        return await self.ok("GET", f"/rooms/{quote(room)}/wait", **query)

    async def claim(self, room: str, key: str, lease_s: int = 60, **further: Any) -> Json:
        """The claim that it holds then."""
        body = {"key": key, "lease_s": lease_s, **further}
        claim: Json = (await self.ok("POST", f"/rooms/{quote(room)}/claims", body))["claim"]
        return claim

    async def set_status(self, room: str, text: str | None, expires_in_s: int = 60) -> Json:
        body = {"status": text, "expires_in_s": expires_in_s}
        return await self.ok("PUT", f"/rooms/{quote(room)}/status", body)

    async def events(self, room: str, after_seq: int = 0) -> list[Json]:
        """The log after a number, page by page."""
        found: list[Json] = []
        while True:
            page = await self.ok(
                "GET", f"/rooms/{quote(room)}/events", after_seq=after_seq, limit=1000
            )
            found += page["events"]
            after_seq = page["next_after_seq"]
            if not page["has_more"]:
                return found

    async def log(self, room: str) -> list[tuple[str, str | None]]:
        """The log in short: type and reason."""
        return [(event["type"], event["reason"]) for event in await self.events(room)]


@dataclass(frozen=True)
class Running:
    """A daemon that runs, the database it runs on, and who calls it."""

    daemon: app.Daemon
    database: Database

    @property
    def services(self) -> Services:
        return self.daemon.api.services

    def party(self, name: str) -> Party:
        return Party(self.daemon, name)

    @property
    def operator(self) -> Party:
        return Party(self.daemon, None, OPERATOR)

    async def index(self) -> None:
        """What a chore does every other second, at once: let the search index catch up."""
        async with self.database.side_session() as session:
            await chores.index_all(session, self.services.unindexed, self.services.clock)

    async def room(self, name: str, *names: str) -> list[Party]:
        """Parties of these names in a new room that the first one makes."""
        parties = [self.party(party) for party in names]
        await parties[0].create(name)
        for party in parties[1:]:
            await party.join(name)
        return parties


@asynccontextmanager
async def running(
    arguments: ConnectArguments,
    *,
    clock: Clock | None = None,
    limits: Limits = NO_LIMITS,
    jitter: Callable[[], float] = no_jitter,
    may_fail: bool = False,
) -> AsyncIterator[Running]:
    """From open to closed, and what it has stored is whole then."""
    database = await Database.open(arguments, owner="the test")
    try:
        async with app.running(config(limits), database, clock=clock, jitter=jitter) as daemon:
            yield Running(daemon, database)
            assert may_fail or not daemon.failed.done(), daemon.failed.exception()
        await check_stored(database.reads)
    finally:
        await database.close()


def _texts(query: Mapping[str, Any]) -> dict[str, str | list[str]]:
    return {
        name: [str(one) for one in value] if isinstance(value, list) else str(value)
        for name, value in query.items()
        if value is not None
    }
