"""One message at a time to one waiter, each an MCP host with a relay: tool call to tool result.

Says the seconds of each, as `lone` does.
"""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

from tests.bench import wires
from tests.bench.loads import mcp_lines
from tests.bench.loads.talk import asked, say


class _Host:
    """A host that is done with its handshake."""

    def __init__(self, command: list[str], socket: str, conversation: str) -> None:
        self._process = subprocess.Popen(
            [*command, "--conversation", conversation, "--url", f"unix:{socket}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.send(mcp_lines.INITIALIZE)
        self.receive()
        self.send(mcp_lines.INITIALIZED)

    def send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def receive(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def result(self) -> Any:
        """Of a tool. Raises UnexpectedError when it failed."""
        answer = self.receive()["result"]
        if answer.get("isError"):
            raise wires.UnexpectedError(answer)
        return answer["structuredContent"]["result"]

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    """Asked: as in lone, and command (the relay's)."""
    ask = asked()
    looking = wires.Caller(ask["socket"])
    poster = _Host(ask["command"], ask["socket"], ask["poster"])
    waiter = _Host(ask["command"], ask["socket"], ask["waiter"])
    message = {"messages": [{"kind": "status", "body": ask["body"]}]}
    look = wires.request("GET", f"/rooms/{ask['room']}/messages?limit=1", ask["waiter"])
    after_seq = looking.call(look).expect(200)["latest_seq"]
    seconds = []
    for number in range(ask["count"]):
        waiter.send(mcp_lines.call(number, "wait", room=ask["room"], after_seq=after_seq))
        wires.until_parked(looking, 1)
        began = time.perf_counter()
        poster.send(mcp_lines.call(number, "write_messages", **message))
        woken = waiter.result()
        seconds.append(time.perf_counter() - began)
        after_seq = woken["next_after_seq"]
        poster.result()
    poster.end()
    waiter.end()
    say(seconds)


if __name__ == "__main__":
    main()
