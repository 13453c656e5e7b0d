"""A host's requests in flight, and which of them may be sent to a daemon a second time."""

from __future__ import annotations

from time import monotonic

from .relay_answers import Message, encoded

# These change nothing, so that repeating them cannot either. Everything else is repeated only
# under its idempotency key.
READING_TOOLS = ("wait", "list_active_rooms", "list_room_messages", "list_claims")
KEYED_TOOLS = ("write_messages", "send_to_peer")
# They take numbers of events, which hold for one life of the database. The daemon refuses them
# when it is another one by now.
NUMBERED_TOOLS = ("wait", "list_room_messages", "write_messages", "react_to_message")
GENERATION_KEY = "coordrooms/generation"
# A call that a daemon does not survive must not take down one after another.
MOST_RESENDS = 5
# What the daemon takes; without its id, which it does not read, its refusal would reach nobody.
MESSAGE_MAX_BYTES = 1 << 20
# How long the host has already waited, so that the daemon keeps the whole wait under its limit.
WAITED_KEY = "coordrooms/waited_s"
# The user's word on how long one wait may take with this host.
MAX_WAIT_KEY = "coordrooms/max_wait_s"


class Call:
    """One request of the host that has no answer yet."""

    __slots__ = ("_line", "_resends", "_since", "message", "sent")

    def __init__(self, message: Message, line: bytes) -> None:
        self.message = message
        self.sent = False  # on the connection there is now
        self._line = line
        self._since = monotonic()
        self._resends = -1

    def line(self, generation: str | None) -> bytes:
        """The line to send now; `generation`, if known, is that of the numbers in it."""
        self.sent = True
        self._resends += 1
        more: Message = {}
        if self._resends and self._tool() == "wait":
            more[WAITED_KEY] = round(monotonic() - self._since, 3)
        if generation and self._tool() in NUMBERED_TOOLS:
            more[GENERATION_KEY] = generation
        if more:
            params = self.message["params"]
            meta = {**(params.get("_meta") or {}), **more}
            line = encoded({**self.message, "params": {**params, "_meta": meta}})
            if len(line) <= MESSAGE_MAX_BYTES:
                return line
        return self._line + b"\n"

    def may_be_repeated(self) -> bool:
        """Whether it can be sent again after a daemon took it and went away without an answer."""
        if self._resends >= MOST_RESENDS:
            return False
        tool = self._tool()
        return tool in READING_TOOLS or (tool in KEYED_TOOLS and self._has_key())

    def ended_by_drain(self, answer: Message) -> bool:
        """Whether `answer` is that of a daemon which stops, to a wait that can go on elsewhere."""
        match answer.get("result"):
            case {"structuredContent": {"result": {"reason": "closing"}}}:
                return self._tool() == "wait" and self.may_be_repeated()
        return False

    def generation_told(self, answer: Message) -> str | None:
        """What `answer` says of the generation of the numbers in it."""
        match answer.get("result"):
            case {"structuredContent": {"result": {"next_cursor": str(cursor)}}}:
                return cursor.rpartition("@")[2] or None
            case {"structuredContent": {"code": "generation_changed", "generation": str(now)}}:
                return now
        return None

    def description(self) -> str:
        return self._tool() or str(self.message["method"])

    def _tool(self) -> str | None:
        match self.message:
            case {"method": "tools/call", "params": {"name": str(name)}}:
                return name
        return None

    def _has_key(self) -> bool:
        match self.message["params"].get("arguments"):
            case {"idempotency_key": str(key)}:
                return bool(key.strip())
        return False
