"""A daemon for hooks: a few rooms in memory, and calls that a test may hold back."""

from __future__ import annotations

import json
import os
import socketserver
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

Json = dict[str, Any]

COORDROOMS = Path(sys.executable).parent / "coordrooms"
DEADLINE_S = 20.0
STAMP = "2026-11-30T12:00:00.{:03d}Z"


class Room:
    """A room as one reader sees it; `cursor` is theirs."""

    def __init__(self, name: str = "kitchen", kind: str = "room") -> None:
        self.name = name
        self.kind = kind
        self.cursor = 1
        self.messages: list[Json] = []
        self.gap: Json | None = None
        self.generation = "g1"

    def say(self, body: str, at: int | None = None, **changes: Any) -> Json:
        seq = self.messages[-1]["seq"] + 1 if self.messages else 2
        message = {
            "id": seq,
            "seq": seq,
            "kind": "status",
            "body": body,
            "reply_to": None,
            "at": STAMP.format(seq if at is None else at),
            "author": {"conversation_id": "bob", "name": "bob", "kind": "agent"},
        } | changes
        self.messages.append(message)
        return message

    def portion(self, limit: int = 100) -> Json:
        unread = [message for message in self.messages if message["seq"] > self.cursor]
        given = unread[:limit]
        has_more = len(given) < len(unread)
        return {
            "room": self.name,
            "kind": self.kind,
            "messages": given,
            "through_seq": given[-1]["seq"] if has_more else self.head,
            "has_more": has_more,
            "retention_gap": self.gap,
            "generation": self.generation,
        }

    @property
    def head(self) -> int:
        numbers: list[int] = [message["seq"] for message in self.messages]
        return max([self.cursor, *numbers])


class AnsweringDaemon:
    """Serves `rooms` on a Unix socket for the time of a `with`.

    A path in `held` is answered once its event is set; a call of one in `lost` never takes place.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rooms = [Room()]
        self.in_room = True
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        self.held: dict[str, threading.Event] = {}
        self.lost: set[str] = set()
        self._changed = threading.Condition()
        self._server = _Server(str(path), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def url(self) -> str:
        return f"unix:{self.path}"

    @property
    def paths(self) -> list[str]:
        return [path.partition("?")[0] for _, path, _, _ in self.requests]

    def __enter__(self) -> AnsweringDaemon:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for event in self.held.values():
            event.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def until_asked(self, path: str, times: int = 1) -> None:
        with self._changed:
            asked = self._changed.wait_for(lambda: self.paths.count(path) >= times, DEADLINE_S)
        assert asked, f"{path} was not asked for {times} times: {self.paths}"

    def answer(self, method: str, target: str, headers: dict[str, str], body: Any) -> Json:
        path = target.partition("?")[0]
        with self._changed:
            self.requests.append((method, target, headers, body))
            lost = path in self.lost
            self._changed.notify_all()
        if path in self.held:
            self.held[path].wait(DEADLINE_S)
        match path:
            case _ if lost:
                return {"status": 503, "code": "store_unavailable"}
            case "/api/v1/unread":
                return {"unread": [room.portion() for room in self.rooms] if self.in_room else []}
            case "/api/v1/cursor":
                for room in self.rooms:
                    room.cursor = max(room.cursor, body["cursors"].get(room.name, 0))
                return {"cursors": body["cursors"]}
            case "/api/v1/rooms/@active" if self.in_room:
                room = self.rooms[0]
                return {
                    "room": {
                        "slug": room.name,
                        "latest_seq": room.head,
                        "generation": room.generation,
                    },
                    "members": [],
                    "claims": [],
                }
            case "/api/v1/rooms/@active":
                return {"status": 409, "code": "active_membership_not_found"}
            case "/api/v1/wait":
                return {"reason": "event", "rooms": {}}
        return {"status": 404, "code": "not_found"}


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def _handler(daemon: AnsweringDaemon) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def address_string(self) -> str:
            return "a hook"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            parsed = json.loads(body) if body else None
            answer = daemon.answer(self.command, self.path, headers, parsed)
            data = json.dumps(answer).encode()
            try:
                self.send_response(answer.get("status", 200))
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except BrokenPipeError:
                self.close_connection = True  # the hook was killed

        do_GET = do_POST = _answer  # noqa: N815 - the names are the base class's

    return Handler


class Hooks:
    """Runs `coordrooms hook` in a home of its own."""

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        kept = {name: value for name, value in os.environ.items() if "COORDROOMS" not in name}
        self.env = kept | {
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "COORDROOMS_URL": url,
        }

    def start(self, event: str, *more: str, host: str = "claude") -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [COORDROOMS, "hook", event, "--host", host, *more],
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(
        self, event: str, stdin: Json | bytes | None = None, *more: str, host: str = "claude"
    ) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        data = stdin if isinstance(stdin, bytes) else json.dumps(stdin or {"session_id": "s1"})
        with self.start(event, *more, host=host) as process:
            encoded = data if isinstance(data, bytes) else data.encode()
            out, err = process.communicate(encoded, DEADLINE_S)
        return process.returncode, out.decode(), err.decode()

    @property
    def log(self) -> list[str]:
        path = self.home / "state/coordrooms/hooks.log"
        return path.read_text().splitlines() if path.exists() else []

    def trace(self, name: str = "claude-s1") -> Json:
        path = self.home / f"state/coordrooms/sessions/{name}.json"
        trace: Json = json.loads(path.read_text())
        return trace


def text_of(output: str) -> str:
    """The one text in a hook's output, whatever its host wraps it in."""
    texts: list[str] = []

    def walk(value: Any, key: str = "") -> None:
        if isinstance(value, dict):
            for name, part in value.items():
                walk(part, name)
        elif key not in ("decision", "hookEventName"):
            texts.append(value)

    walk(json.loads(output))
    [text] = texts
    return text
