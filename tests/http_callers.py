"""A light HTTP client for tests that call often: one connection, no pool, no framework."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

BASE: Final = "/api/v1"
# What a client does that found nobody at the socket; longer would only blur what is measured.
PAUSE_S: Final = 0.02


class LostError(Exception):
    """No whole answer came: what was asked for is done, or it is not."""


@dataclass(frozen=True, slots=True)
class Reply:
    """`body` is its JSON, or its text; names of `headers` are in small letters."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def replayed(self) -> bool:
        return self.headers.get("idempotency-replayed") == "true"


class Caller:
    """Calls in the name of one participant, or of the operator when it has none; one at a time.

    A lost connection ends the call and no more: the next one connects again.
    """

    def __init__(self, socket: Path, name: str | None = None) -> None:
        self.name = name
        self.socket = socket
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        idempotency_key: str | None = None,
        base: str = BASE,
        **query: object,
    ) -> Reply:
        """Raises LostError."""
        text = self._request(method, base + path, body, idempotency_key, query)
        try:
            reader, writer = self._streams = self._streams or await asyncio.open_unix_connection(
                self.socket, limit=1 << 26
            )
            writer.write(text)
            return await _reply(reader)
        except (OSError, EOFError) as error:
            self.close()
            raise LostError(f"{method} {path}: {error!r}") from error
        except BaseException:  # cancelled in the middle: the next answer would be this call's
            self.close()
            raise

    async def text(self, path: str) -> str:
        """A page that is not JSON, like /metrics; the path is whole. Raises LostError."""
        reply = await self.call("GET", path, base="")
        assert reply.status == 200, reply
        text: str = reply.body
        return text

    async def until_answered(
        self, method: str, path: str, body: object = None, **how: Any
    ) -> Reply:
        """Call again and again until there is an answer that is not "come back later"."""
        while True:
            try:
                reply = await self.call(method, path, body, **how)
                if reply.status != 503:
                    return reply
            except LostError:
                pass
            await asyncio.sleep(PAUSE_S)

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            self._streams = None

    def _request(
        self, method: str, path: str, body: object, key: str | None, query: dict[str, object]
    ) -> bytes:
        target = f"{path}?{urlencode(query)}" if query else path
        lines = [f"{method} {target} HTTP/1.1", "Host: localhost"]
        if self.name is not None:
            lines.append(f"Coordrooms-Conversation: {self.name}")
        if key is not None:
            lines.append(f"Idempotency-Key: {key}")
        content = b"" if body is None else json.dumps(body).encode()
        if body is not None:
            lines.append("Content-Type: application/json")
        lines += [f"Content-Length: {len(content)}", "", ""]
        return "\r\n".join(lines).encode() + content


async def _reply(reader: asyncio.StreamReader) -> Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    content = await reader.readexactly(int(headers["content-length"]))
    return Reply(int(first.split()[1]), headers, _value(headers, content))


def _value(headers: dict[str, str], content: bytes) -> Any:
    if not headers.get("content-type", "json").startswith("text/"):
        return json.loads(content) if content else None
    return content.decode()
