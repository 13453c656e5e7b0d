"""Programs that nobody here wrote drive the daemon. The MCP SDK does in test_mcp_sessions.py."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.outside import programs
from tests.daemon_processes import REPOSITORY, DaemonProcess

COMMAND = Path(sys.executable).with_name("coordrooms")


@pytest.fixture
def inspector() -> Path:
    return programs.inspector()


@pytest.fixture
def generator() -> Path:
    return programs.generator()


@pytest.fixture
async def daemon(state_dir: Path) -> AsyncIterator[DaemonProcess]:
    daemon = DaemonProcess(state_dir)
    try:
        await daemon.start()
        yield daemon
    finally:
        await daemon.discard()


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


class TestInspector:
    """https://github.com/modelcontextprotocol/inspector, its command line."""

    async def test_it_lists_the_tools_and_calls_wait(
        self, inspector: Path, daemon: DaemonProcess
    ) -> None:
        at = f"COORDROOMS_URL=unix:{daemon.socket}"
        command = (inspector, "--cli", "-e", at, COMMAND, "mcp")

        def ask(method: str, *arguments: str) -> Any:
            return json.loads(run(*command, "--method", method, *arguments))

        def call(tool: str, **arguments: object) -> Any:
            named = [f"{name}={value}" for name, value in arguments.items()]
            answer = ask("tools/call", "--tool-name", tool, "--tool-arg", *named)
            assert not answer.get("isError"), answer
            return answer["structuredContent"]["result"]

        listed = {tool["name"] for tool in ask("tools/list")["tools"]}
        assert {"create_room", "write_messages", "wait", "claim"} <= listed
        made = call("create_room", roomName="inspected", conversationId="inspector")
        assert made["room"]["name"] == "inspected"
        waited = call("wait", room="inspected", conversationId="inspector", timeout_s=1)
        assert waited["reason"] == "timeout"


class TestGeneratedClient:
    """https://github.com/openapi-generators/openapi-python-client"""

    async def test_it_posts_and_reads(
        self, generator: Path, daemon: DaemonProcess, tmp_path: Path
    ) -> None:
        described = await daemon.caller().call("GET", "/openapi.json", base="")
        (tmp_path / "openapi.json").write_text(json.dumps(described.body))
        said = run(
            generator / "openapi-python-client", "generate", "--meta", "none",
            "--path", "openapi.json", "--output-path", "rooms_api", cwd=tmp_path,
        )  # fmt: skip
        assert "WARNING" not in said, f"the generator leaves something out:\n{said}"
        script = REPOSITORY / "tests" / "acceptance" / "outside" / "posts_and_reads.py"
        shutil.copy(script, tmp_path)
        run(generator / "python", script.name, daemon.socket, cwd=tmp_path)
