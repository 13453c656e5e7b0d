"""A model on loopback, which does as a test says: four APIs, one mind.

A test gives a list of steps, one for each request that offers the tools of coordrooms; a step looks
at what the model was sent and says something or uses a tool. Other requests (titles, summaries) get
a word of no interest.
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.acceptance.hosts.wires import APIS, WHOLE, Json, Say, Use


class Heard(NamedTuple):
    """What a request held: all its text, and the names of its tools."""

    text: str
    tools: list[str]

    @property
    def conversation(self) -> str:
        """The id that a hook has given to the session."""
        found = re.findall(r"this session's conversationId is \\*\"([^\"\\]+)", self.text)
        assert found, f"no hook said who this session is:\n{self.text[-3000:]}"
        return str(found[-1])


Step = Callable[[Heard], Say | Use]


class Model:
    """A server for the time of a `with`. `url` is its root."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []
        self.requests: list[str] = []
        self.failures: list[str] = []
        self._steps: deque[Step] = deque()
        self._changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Model:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def will(self, *steps: Step) -> None:
        """What is next, after what was to come before."""
        with self._changed:
            self._steps.extend(steps)

    def until_done(self, within_s: float = 120.0) -> None:
        """Return when all steps were taken."""
        with self._changed:
            done = self._changed.wait_for(lambda: not self._steps or self.failures, within_s)
        assert not self.failures, self.failures
        last = self.heard[-1].text[-3000:] if self.heard else "nothing at all"
        assert done, f"{len(self._steps)} steps were not taken; {self.requests}; heard last: {last}"

    def answer(self, heard: Heard) -> Say | Use:
        if not any(name.endswith("join_room") for name in heard.tools):
            return Say("coordination")
        with self._changed:
            self.heard.append(heard)
            step = self._steps.popleft() if self._steps else _nothing_more
            try:
                return step(heard)
            except Exception as fault:  # it is the test's, and shows there
                self.failures.append(f"{type(fault).__name__}: {fault}")
                return Say("failed")
            finally:
                self._changed.notify_all()


def _nothing_more(heard: Heard) -> Say:
    return Say("That is all.")


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

        def do_GET(self) -> None:
            model.requests.append(f"GET {self.path}")
            self._send({"data": [], "models": []})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            model.requests.append(f"POST {self.path}")
            path = self.path.partition("?")[0]
            for ending, api in APIS.items():
                if path.endswith(ending):
                    request = json.loads(body)
                    reply = model.answer(Heard(_texts(request), _tool_names(request)))
                    tool = _full_name(reply, _tool_names(request))
                    streams = request.get("stream") or "stream" in path
                    if streams:
                        self._stream(api(reply, tool, request))
                    else:
                        self._send(WHOLE[ending](reply, tool, request))
                    return
            self._send({"input_tokens": 10, "totalTokens": 10})

        def _stream(self, events: Iterator[tuple[str | None, Json | str]]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            for name, data in events:
                text = data if isinstance(data, str) else json.dumps(data)
                head = f"event: {name}\n" if name else ""
                self.wfile.write(f"{head}data: {text}\n\n".encode())

        def _send(self, document: Json) -> None:
            data = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def _texts(value: Any) -> str:
    """Every string of a request but those of its tools."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(_texts, value))
    if isinstance(value, dict):
        return "\n".join(_texts(part) for key, part in value.items() if key != "tools")
    return ""


def _tool_names(request: Json) -> list[str]:
    names = []
    for tool in request.get("tools") or []:
        if tool.get("type") == "namespace":
            names += [f"{tool['name']}.{inner['name']}" for inner in tool["tools"]]
        for inner in tool.get("functionDeclarations") or [tool.get("function") or tool]:
            names.append(str(inner.get("name")))
    return names


def _full_name(reply: Say | Use, names: list[str]) -> str:
    if isinstance(reply, Say):
        return ""
    fitting = [name for name in names if re.search(rf"(^|[_.-]){re.escape(reply.tool)}$", name)]
    return fitting[0] if fitting else reply.tool
