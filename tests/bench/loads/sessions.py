"""Many MCP sessions on the daemon's own socket, as relays open them.

Says when all have shaken hands and listed the tools, and waits to be told to go on; says when each
has a wait parked, and waits again; then says the seconds from one post to the first and last of
them that was woken.
"""

from __future__ import annotations

import json
import select
import time
from typing import Any

from tests.bench import fills, wires
from tests.bench.loads import mcp_lines
from tests.bench.loads.talk import asked, say, until_told

_CHUNK = 262_144
PATIENCE_S = 120


class _Lines:
    """One session's connection; blocks."""

    def __init__(self, path: str, conversation: str) -> None:
        self.socket = wires.connect(path)
        self.socket.settimeout(PATIENCE_S)
        self._received = b""
        self.socket.sendall(mcp_lines.hello(conversation))

    def send(self, line: bytes) -> None:
        self.socket.sendall(line)

    def result(self) -> Any:
        """Of the request that was sent last. Raises UnexpectedError when it failed."""
        while True:
            line, end, rest = self._received.partition(b"\n")
            if not end:
                chunk = self.socket.recv(_CHUNK)
                if not chunk:
                    raise ConnectionError("the daemon closed a session")
                self._received += chunk
                continue
            self._received = rest
            message = json.loads(line)
            if "id" not in message:
                continue
            result = message.get("result")
            if result is None or result.get("isError"):
                raise wires.UnexpectedError(message)
            return result


def main() -> None:
    """Asked: socket, mcp_socket, room, sessions, first, body. Session n is member `first` + n."""
    ask = asked()
    sessions = []
    for number in range(ask["sessions"]):
        session = _Lines(ask["mcp_socket"], fills.agent(ask["first"] + number))
        session.send(mcp_lines.INITIALIZE)
        session.result()
        session.send(mcp_lines.INITIALIZED)
        session.send(mcp_lines.LIST)
        session.result()
        sessions.append(session)
    say("open")
    until_told()
    caller, poster = wires.Caller(ask["socket"]), fills.agent(1)
    look = wires.request("GET", f"/rooms/{ask['room']}/messages?limit=1", poster)
    head = caller.call(look).expect(200)["latest_seq"]
    for session in sessions:
        session.send(mcp_lines.call(1, "wait", room=ask["room"], after_seq=head))
    wires.until_parked(caller, len(sessions))
    say("parked")
    until_told()
    say(_wake(caller, wires.post(ask["room"], poster, ask["body"]), sessions))


def _wake(caller: wires.Caller, post: bytes, sessions: list[_Lines]) -> list[float]:
    poll = select.epoll()
    waiting = {session.socket.fileno(): session for session in sessions}
    for descriptor in waiting:
        poll.register(descriptor, select.EPOLLIN)
    seconds: list[float] = []
    began = time.perf_counter()
    caller.send(post)
    while waiting:
        for descriptor, _ in poll.poll(PATIENCE_S):
            waiting.pop(descriptor).result()
            seconds.append(time.perf_counter() - began)
            poll.unregister(descriptor)
    caller.receive().check(201)
    return [seconds[0], seconds[-1]]


if __name__ == "__main__":
    main()
