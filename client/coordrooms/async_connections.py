"""Steps taken on asyncio's own streams: connections, time, and the driving of programs."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from .addresses import Address, UnixAddress
from .calls import Connect, Pause, Program, Receive, Send, Step

T = TypeVar("T")

RECEIVE_SIZE = 262_144


async def drive(steps: Program[T]) -> T:
    """Take the steps of a program one after the other; what it returns."""
    try:
        step = next(steps)
        while True:
            try:
                result = await _take(step)
            except OSError as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        value: T = stop.value
        return value
    finally:
        # A program that is cancelled in the middle of an answer closes its connection here.
        steps.close()


class StreamConnection:
    """A pair of asyncio's streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def close(self) -> None:
        self.writer.transport.abort()


async def _take(step: Step) -> Any:
    match step:
        case Receive(StreamConnection() as connection, timeout_s):
            async with asyncio.timeout(timeout_s):
                return await connection.reader.read(RECEIVE_SIZE)
        case Send(StreamConnection() as connection, data, timeout_s):
            connection.writer.write(data)
            async with asyncio.timeout(timeout_s):
                await connection.writer.drain()
        case Connect(address, timeout_s):
            async with asyncio.timeout(timeout_s):
                return StreamConnection(*await _open(address))
        case Pause(seconds):
            await asyncio.sleep(seconds)
        case _:
            raise TypeError(f"no step of this front: {step!r}")
    return None


async def _open(address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if isinstance(address, UnixAddress):
        return await asyncio.open_unix_connection(address.path)
    if not address.tls:
        return await asyncio.open_connection(address.host, address.port)
    import ssl

    context = ssl.create_default_context()
    return await asyncio.open_connection(address.host, address.port, ssl=context)
