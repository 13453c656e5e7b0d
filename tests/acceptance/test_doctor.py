"""`coordrooms doctor`: each line that fails says what to do, and the exit code tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import coordrooms
from coordrooms.hosts import NAMES
from tests.acceptance.daemons import Daemon

COORDROOMS = Path(sys.executable).parent / "coordrooms"
DONE, FAILED, USAGE, UNREACHABLE = 0, 1, 2, 4

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def run(daemon: Daemon, home: Path) -> Run:
    def run(
        *arguments: str, stdin: str = "", cwd: Path = home, **env: str
    ) -> subprocess.CompletedProcess[str]:
        usual = {"HOME": str(home), "PATH": os.environ["PATH"], "COORDROOMS_URL": daemon.url}
        return subprocess.run(
            [COORDROOMS, *arguments],
            cwd=cwd,
            env=usual | env,
            input=stdin,
            capture_output=True,
            text=True,
        )

    return run


def failing(run: Run, *arguments: str, **more: Any) -> dict[str, Any]:
    """The lines that fail, by subject; each has a remedy."""
    ended = run("doctor", *arguments, "--json", **more)
    report = json.loads(ended.stdout)
    lines = {check["subject"]: check for check in report["checks"] if check["ok"] is False}
    assert report["ok"] is not bool(lines)
    assert all(line["remedy"].strip() for line in lines.values())
    return lines


def test_with_a_daemon_and_no_host_all_is_well(run: Run) -> None:
    ended = run("doctor")
    assert ended.returncode == DONE, ended.stdout
    assert "FAIL" not in ended.stdout
    assert f"daemon and client are both {coordrooms.__version__}" in ended.stdout
    assert failing(run) == {}


@pytest.mark.parametrize("name", NAMES)
def test_a_host_is_well_once_its_hooks_have_fired(name: str, run: Run) -> None:
    assert "not set up" in run("doctor", name).stdout
    run("install", name, "--yes")
    ended = run("doctor", name)
    assert ended.returncode == FAILED
    assert "no hook has fired yet" in ended.stdout
    assert {*failing(run)} <= {f"{name} fired", f"{name} trust"}
    stdin = json.dumps({"session_id": "s1", "conversation_id": "s1", "sessionId": "s1"})
    assert run("hook", "session-start", "--host", name, stdin=stdin).returncode == 0
    ended = run("doctor")
    assert ended.returncode == DONE, ended.stdout
    assert f"for {name}-s1: told where things stand" in ended.stdout
    assert f"{name} tools: {COORDROOMS} mcp starts and lists 14 tools" in ended.stdout


def test_a_hook_that_last_failed(run: Run) -> None:
    run("install", "claude", "--yes")
    nowhere = {"COORDROOMS_URL": "unix:/nonexistent/d.sock"}
    run("hook", "Stop", "--host", "claude", stdin='{"session_id": "s1"}', **nowhere)
    line = failing(run)["claude fired"]
    assert "no answer from the daemon at unix:/nonexistent/d.sock" in line["text"]
    assert line["remedy"].endswith("hooks.log has the last failures.")


def test_a_piece_that_is_missing(run: Run, home: Path) -> None:
    run("install", "claude", "--yes")
    file = home / ".claude/settings.json"
    settings = json.loads(file.read_text())
    del settings["hooks"]["Stop"]
    file.write_text(json.dumps(settings))
    (home / ".claude/skills/coordrooms/SKILL.md").unlink()
    lines = failing(run)
    assert lines["claude hooks"]["text"] == "hooks missing: Stop"
    assert "SKILL.md" in lines["claude skill and files"]["text"]
    assert lines["claude hooks"]["remedy"] == "Run `coordrooms install claude` again."


def test_a_command_that_is_gone(run: Run, home: Path) -> None:
    run("install", "gemini", "--yes")
    file = home / ".gemini/settings.json"
    file.write_text(file.read_text().replace(str(COORDROOMS), "/opt/gone/coordrooms"))
    lines = failing(run)
    assert "/opt/gone/coordrooms is not there" in lines["gemini command"]["text"]
    assert "/opt/gone/coordrooms mcp cannot be run" in lines["gemini tools"]["text"]


def test_a_file_that_cannot_be_understood(run: Run, home: Path) -> None:
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").write_text('{"mcpServers": ')
    assert "line 1, column" in failing(run)["cursor"]["text"]


def test_codex_needs_the_trust_of_its_user(run: Run, home: Path) -> None:
    run("install", "codex", "--yes")
    assert "nobody has trusted" in failing(run)["codex trust"]["text"]
    assert "/hooks" in failing(run)["codex trust"]["remedy"]
    key = f"{home}/.codex/hooks.json:stop:0:0"
    with (home / ".codex/config.toml").open("a") as file:
        file.write(f'\n[hooks.state."{key}"]\ntrusted_hash = "sha256:0"\n')
    assert "codex trust" not in failing(run)


def test_an_installation_in_a_project_is_looked_at_from_there(run: Run, home: Path) -> None:
    project = home / "project"
    project.mkdir()
    run("install", "opencode", "--project", "--yes", cwd=project)
    assert failing(run) == {}
    assert {*failing(run, cwd=project)} == {"opencode fired"}
    (project / ".opencode/plugins/coordrooms.js").unlink()
    line = failing(run, cwd=project)["opencode in this project skill and files"]
    assert line["remedy"] == "Run `coordrooms install opencode --project` again."


def test_a_daemon_that_is_away_does_not_hide_the_rest(run: Run) -> None:
    run("install", "claude", "--yes")
    ended = run("doctor", COORDROOMS_URL="unix:/nonexistent/d.sock")
    assert ended.returncode == UNREACHABLE
    assert "FAIL  daemon: no answer from the daemon at unix:/nonexistent/d.sock" in ended.stdout
    assert "claude hooks: registered" in ended.stdout
    assert "Traceback" not in ended.stderr


def test_files_that_others_may_read(run: Run, home: Path) -> None:
    inbox = home / ".local/state/coordrooms/inbox/here/ann.sqlite3"
    inbox.parent.mkdir(parents=True, mode=0o700)
    for folder in (inbox.parent.parent, inbox.parent.parent.parent):
        folder.chmod(0o700)
    inbox.write_text("")
    inbox.chmod(0o640)
    line = failing(run)["files"]
    assert str(inbox) in line["text"]
    assert line["remedy"] == f"chmod 600 {inbox}"


def test_a_socket_that_everybody_may_use(run: Run, daemon: Daemon) -> None:
    daemon.socket.chmod(0o666)
    try:
        line = failing(run)["socket"]
    finally:
        daemon.socket.chmod(0o660)
    assert line["remedy"] == f"chmod o-rwx {daemon.socket}"


def test_wrong_usage(run: Run) -> None:
    ended = run("doctor", "emacs")
    assert (ended.returncode, ended.stdout) == (USAGE, "")
    assert "claude, codex" in ended.stderr
    ended = run("doctor", COORDROOMS_URL="tcp:nowhere")
    assert ended.returncode == USAGE
