"""HTTP/1.1 as bytes (RFC 9112), without any I/O: requests to send, answers to read bit by bit."""

from __future__ import annotations

# Set by type checkers. A hook runs at every tool call, and `typing` is a tenth of what that takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

# What h11 and uvicorn allow a head to have; ours are under 1 KiB.
HEAD_LIMIT = 65_536

_SIZE_DIGITS = frozenset(b"0123456789abcdefABCDEF")


class WireError(Exception):
    """These bytes are no HTTP/1.1 answer."""


class TruncatedError(WireError):
    """The connection ended in the middle of an answer."""


def request_bytes(
    method: str, target: str, headers: Sequence[tuple[str, str]], body: bytes | None
) -> bytes:
    """A whole request. Names and values are ASCII and without line ends."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    elif method not in ("GET", "DELETE"):
        lines.append("Content-Length: 0")
    head = "\r\n".join(lines).encode("ascii") + b"\r\n\r\n"
    return head if body is None else head + body


class ResponseReader:
    """One answer, fed as it comes in.

    `status` is 0 until the head is there; `headers` have lower-case names. What has come of the
    body since the last call is `take()`. `done` tells the end, `reusable` whether the
    connection may carry another request then.
    """

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.done = False
        self.reusable = False
        self._raw = bytearray()
        self._body: list[bytes] = []
        self._framing: Literal["until closed", "counted", "chunked"] = "until closed"
        self._expects: Literal["size", "data", "end of data", "trailer"] = "size"
        # Bytes of the body, or of the chunk, that are still to come.
        self._missing = 0

    def feed(self, data: bytes) -> None:
        """Take in what was received; `b""` is the end of the connection. Raises WireError."""
        if not data:
            self._end_of_connection()
            return
        self._raw += data
        if not self.status and not self._read_head():
            return
        if self._framing == "chunked":
            self._read_chunks()
        else:
            self._read_plain()
        if self.done and self._raw:
            # Nobody asked for more than one answer, so what follows belongs to nothing.
            self.reusable = False

    def take(self) -> bytes:
        """The part of the body that has come since the last call."""
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        self._body.clear()
        return body

    def _end_of_connection(self) -> None:
        if self.status and self._framing == "until closed":
            self.done = True
        elif not self.done:
            raise TruncatedError("the connection was closed in the middle of the answer")

    def _read_head(self) -> bool:
        """Read a head if it is whole; whether it is."""
        end = self._raw.find(b"\r\n\r\n")
        if end < 0:
            if len(self._raw) > HEAD_LIMIT:
                raise WireError("the head of the answer does not end")
            return False
        status_line, *lines = self._raw[:end].decode("latin-1").split("\r\n")
        del self._raw[: end + 4]
        version, _, rest = status_line.partition(" ")
        code = rest[:3]
        if not version.startswith("HTTP/1.") or not (len(code) == 3 and code.isdecimal()):
            raise WireError(f"the answer begins with {status_line[:40]!r}")
        if code.startswith("1"):
            return self._read_head()  # an interim answer; the real one follows
        self.status = int(code)
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or name != name.strip():
                raise WireError(f"a header reads {line[:40]!r}")
            self.headers[name.lower()] = value.strip()
        self._choose_framing(version)
        return True

    def _choose_framing(self, version: str) -> None:
        connection = self.headers.get("connection", "").lower()
        self.reusable = version == "HTTP/1.1" and "close" not in connection
        length = self.headers.get("content-length")
        if self.status in (204, 304):
            self.done = True
        elif "transfer-encoding" in self.headers:
            if self.headers["transfer-encoding"].lower() != "chunked":
                raise WireError(f"unknown coding {self.headers['transfer-encoding'][:40]!r}")
            self._framing = "chunked"
        elif length is not None:
            if not (length.isascii() and length.isdecimal()):
                raise WireError(f"Content-Length reads {length[:40]!r}")
            self._framing, self._missing = "counted", int(length)
        else:
            self.reusable = False

    def _read_plain(self) -> None:
        if self.done:
            return
        if self._framing == "until closed":
            self._move(len(self._raw))
            return
        self._missing -= self._move(self._missing)
        self.done = self._missing == 0

    def _read_chunks(self) -> None:
        while not self.done:
            if self._expects == "data":
                self._missing -= self._move(self._missing)
                if self._missing:
                    return
                self._expects = "end of data"
            line = self._line()
            if line is None:
                return
            match self._expects:
                case "end of data":
                    if line:
                        raise WireError("a chunk is longer than it said")
                    self._expects = "size"
                case "size":
                    self._missing = _chunk_size(line)
                    self._expects = "data" if self._missing else "trailer"
                case "trailer":
                    self.done = not line

    def _line(self) -> bytes | None:
        end = self._raw.find(b"\r\n")
        if end < 0:
            if len(self._raw) > HEAD_LIMIT:
                raise WireError("a line of a chunk does not end")
            return None
        line = bytes(self._raw[:end])
        del self._raw[: end + 2]
        return line

    def _move(self, at_most: int) -> int:
        """Move up to so many bytes to the body; how many there were."""
        part = bytes(self._raw[:at_most])
        del self._raw[: len(part)]
        if part:
            self._body.append(part)
        return len(part)


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not digits or not _SIZE_DIGITS.issuperset(digits):
        raise WireError(f"the size of a chunk reads {line[:40]!r}")
    return int(digits, 16)
