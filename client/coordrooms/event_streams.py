"""Server-sent events as a reader of bytes (WHATWG HTML, section 9.2.6), without any I/O."""

from __future__ import annotations

from typing import NamedTuple


class Frame(NamedTuple):
    """One dispatched event. `event` is `message` when the stream names none."""

    id: str
    event: str
    data: str


class FrameReader:
    """Turns the bytes of a `text/event-stream` into frames, however they are cut."""

    def __init__(self) -> None:
        self._rest = b""
        self._last_id = ""
        self._event = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that these bytes complete; comments and `retry` are left out."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        frames = (self._take_line(line.removesuffix(b"\r").decode()) for line in lines)
        return [frame for frame in frames if frame is not None]

    def _take_line(self, line: str) -> Frame | None:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "id":
                self._last_id = value
            case "event":
                self._event = value
            case "data":
                self._data.append(value)
        return None

    def _dispatch(self) -> Frame | None:
        event, data = self._event or "message", self._data
        self._event, self._data = "", []
        return Frame(self._last_id, event, "\n".join(data)) if data else None
