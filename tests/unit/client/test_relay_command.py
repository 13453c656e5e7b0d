"""`coordrooms mcp` as a process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.client.relay_ends import DEADLINE_S, INITIALIZE

SCRIPT = "import sys; from coordrooms.relay import main; code = main(sys.argv[1:]); "
HEAVY = {"asyncio", "dataclasses", "inspect", "logging", "argparse", "threading", "urllib", "ssl"}


def command(*arguments: str, then: str = "sys.exit(code)", **env: str) -> subprocess.Popen[bytes]:
    """A relay; only `env` tells it anything about a daemon."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COORDROOMS")}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT + then, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=kept | env,
    )


def request(method: str, params: dict[str, Any] | None = None) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return json.dumps(message).encode() + b"\n"


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "d-mcp.sock"))
        listener.listen()
        listener.settimeout(DEADLINE_S)
        yield listener


def hello(listener: socket.socket) -> dict[str, Any]:
    connection, _ = listener.accept()
    connection.settimeout(DEADLINE_S)
    with connection, connection.makefile("rb") as lines:
        line: dict[str, Any] = json.loads(lines.readline())
        return line


def test_needs_little() -> None:
    with command(then="print(*sys.modules, file=sys.stderr)") as relay:
        out, modules = relay.communicate(request("initialize", INITIALIZE), DEADLINE_S)
    assert json.loads(out)["result"]["serverInfo"]["name"] == "coordrooms"
    assert HEAVY.isdisjoint(modules.decode().split())


def test_answers_what_came_before_the_end_of_its_input() -> None:
    with command() as relay:
        out, _ = relay.communicate(request("tools/list") + request("ping"), DEADLINE_S)
    tools, ping = map(json.loads, out.splitlines())
    assert len(tools["result"]["tools"]) == 14
    assert ping["result"] == {}
    assert relay.returncode == 0


def test_ends_with_its_input_though_a_call_is_parked(
    listener: socket.socket, tmp_path: Path
) -> None:
    with command(COORDROOMS_URL=f"unix:{tmp_path}/d.sock") as relay:
        assert relay.stdin is not None
        relay.stdin.write(request("tools/call", {"name": "wait"}))
        relay.stdin.flush()
        connection, _ = listener.accept()
        with connection:
            relay.communicate(timeout=DEADLINE_S)
    assert relay.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "env", "named"),
    [
        (["--conversation", "ann-1"], {}, "ann-1"),
        (["--as", "ann-1"], {"COORDROOMS_CONVERSATION": "bob-1"}, "ann-1"),
        ([], {"COORDROOMS_CONVERSATION": "bob-1"}, "bob-1"),
        ([], {}, None),
    ],
)
def test_names_its_session(
    listener: socket.socket,
    tmp_path: Path,
    arguments: list[str],
    env: dict[str, str],
    named: str | None,
) -> None:
    with command(*arguments, COORDROOMS_URL=f"unix:{tmp_path}/d.sock", **env) as relay:
        assert relay.stdin is not None
        relay.stdin.write(request("tools/call", {"name": "list_active_rooms"}))
        relay.stdin.flush()
        expected = {"coordrooms": 1, "conversation": named, "client_pid": relay.pid}
        assert hello(listener) == expected
        relay.communicate(timeout=DEADLINE_S)


def test_takes_the_url_and_the_longest_wait_as_options(
    listener: socket.socket, tmp_path: Path
) -> None:
    with command("--url", f"unix:{tmp_path}/d.sock", "--max-wait", "25") as relay:
        assert relay.stdin is not None
        relay.stdin.write(request("tools/call", {"name": "wait"}))
        relay.stdin.flush()
        assert hello(listener)["max_wait_s"] == 25
        relay.communicate(timeout=DEADLINE_S)


@pytest.mark.parametrize(
    ("arguments", "url", "explanation"),
    [
        ([], "ftp://there", "begins neither with unix:"),
        (["--url", "unix:here"], "", "begins with /"),
        (["--max-wait", "long"], "", "invalid float value"),
        (["--max-wait", "0"], "unix:/s.sock", "from 1 to 300"),
        (["--max-wait", "nan"], "unix:/s.sock", "from 1 to 300"),
        (["--what"], "", "unrecognized arguments"),
    ],
)
def test_refuses_what_it_cannot_use(arguments: list[str], url: str, explanation: str) -> None:
    with command(*arguments, COORDROOMS_URL=url) as relay:
        out, errors = relay.communicate(timeout=DEADLINE_S)
    assert (relay.returncode, out) == (2, b"")
    assert explanation in " ".join(errors.decode().split())
