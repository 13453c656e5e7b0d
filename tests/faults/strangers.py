"""Callers as bytes, which nobody can rely on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path

from tests.daemon_processes import DaemonProcess
from tests.http_callers import Caller, Reply


async def two_in_a_room(daemon: DaemonProcess) -> tuple[Caller, Caller]:
    ann, bob = daemon.caller("ann"), daemon.caller("bob")
    assert (await ann.call("POST", "/rooms", {"name": "plan"})).status == 201
    assert (await bob.call("POST", "/rooms/plan/join")).status == 200
    return ann, bob


async def say(caller: Caller, body: str) -> Reply:
    message = {"messages": [{"kind": "decision", "body": body}]}
    return await caller.call("POST", "/rooms/plan/messages", message)


def vanishing_request(number: int, chances: random.Random) -> bytes:
    """One of those that park, stream, read and write: whole, twice, or cut off."""
    whole = chances.choice(
        [
            request("wait?after_seq=1&wake_on=status&timeout_s=300"),
            request("events", further="Accept: text/event-stream"),
            request("messages"),
            post(f"vanishing {number}"),
        ]
    )
    return chances.choice((whole, whole + whole, whole[: chances.randrange(len(whole))]))


def post(body: str) -> bytes:
    message = json.dumps({"messages": [{"kind": "decision", "body": body}]})
    return request("messages", "POST", "Content-Type: application/json", message)


def request(target: str, method: str = "GET", further: str = "X: x", body: str = "") -> bytes:
    head = f"{method} /api/v1/rooms/plan/{target} HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Coordrooms-Conversation: bob\r\nContent-Length: {len(body)}\r\n{further}\r\n\r\n"
    return (head + body).encode()


@contextlib.asynccontextmanager
async def connected(socket: Path) -> AsyncIterator[asyncio.StreamWriter]:
    """A connection that nothing is read from, and that ends without a farewell."""
    # asyncio reads 128 KiB ahead, and no more until somebody wants that.
    _, writer = await asyncio.open_unix_connection(socket)
    try:
        yield writer
    finally:
        writer.transport.abort()
