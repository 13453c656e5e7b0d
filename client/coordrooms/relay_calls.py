"""A host's requests in flight, and which of them may be sent to a daemon a second time."""

from __future__ import annotations

from time import monotonic

from .relay_answers import Message, encoded

# These change nothing, so that repeating them cannot either. Everything else is repeated only
# under its idempotency key.
READING_TOOLS = ("wait", "list_active_rooms", "list_room_messages", "list_claims")
KEYED_TOOLS = ("write_messages", "send_to_peer")
# A call that a daemon does not survive must not take down one after another.
MOST_RESENDS = 5
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

    def line(self) -> bytes:
        """The line to send now."""
        self.sent = True
        self._resends += 1
        if self._resends and self._tool() == "wait":
            params = self.message["params"]
            waited = {WAITED_KEY: round(monotonic() - self._since, 3)}
            meta = {**(params.get("_meta") or {}), **waited}
            return encoded({**self.message, "params": {**params, "_meta": meta}})
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
