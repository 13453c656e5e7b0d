"""`install` and `uninstall` on files as people have them."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from coordrooms.hosts import NAMES
from coordrooms.install import jsonc, ours, plans
from tests.unit.client.install.homes import (
    PROGRAM,
    files_of,
    hook_paths,
    install,
    json_texts,
    place,
    settings,
    tree,
    written,
)

COORDROOMS = Path(sys.executable).parent / "coordrooms"


@pytest.fixture(params=["user", "project"])
def where(request: pytest.FixtureRequest, home: Path) -> Any:
    if request.param == "user":
        return place(home)
    project = home / "project"
    project.mkdir()
    return place(home, project)


# --- in and out ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_home_without_anything(name: str, where: Any, home: Path, state: Path) -> None:
    before = tree(home)
    install(name, where)
    once = tree(home)
    assert len(once) > len(before)
    install(name, where)
    assert tree(home) == once
    install(name, where, removal=True)
    assert tree(home) == before
    assert [path for path in state.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@examples(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_is_there_stays_to_the_byte(name: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        os.environ["XDG_STATE_HOME"] = str(Path(folder, "state"))
        where = place(home)
        documents: dict[str, Any] = {}
        for file, kind in files_of(name, where).items():
            if not data.draw(st.booleans()):
                continue
            if kind == "toml":
                text = data.draw(st.sampled_from(["", '# mine\nmodel = "o3"', "a = 1\r\n[b]\r\n"]))
                documents[file] = tomllib.loads(text)
            else:
                paths = [path for found, path in hook_paths(name, where) if found == file]
                documents[file] = data.draw(settings(paths))
                text = data.draw(json_texts(documents[file]))
            written(file, text)
        before = tree(home)
        install(name, where)
        for file, document in documents.items():
            _holds(document, _loaded(file))
        once = tree(home)
        install(name, where)
        assert tree(home) == once
        install(name, where, removal=True)
        assert tree(home) == before


def _loaded(file: str) -> Any:
    text = Path(file).read_bytes().decode()
    return tomllib.loads(text) if file.endswith(".toml") else jsonc.parse(text).value


def _holds(before: Any, after: Any) -> None:
    """That `after` has all that `before` had, in its order, and beyond that only ours."""
    if isinstance(before, dict):
        assert isinstance(after, dict)
        assert [key for key in after if key in before] == list(before)
        for key, value in before.items():
            _holds(value, after[key])
    elif isinstance(before, list) and before != after:
        assert after[: len(before)] == before
        assert all(ours.is_hook(item) for item in after[len(before) :])
    else:
        assert before == after


@pytest.mark.parametrize("name", NAMES)
def test_all_that_a_host_needs_is_there(name: str, where: Any) -> None:
    install(name, where)
    for file, path in hook_paths(name, where):
        value = _loaded(file)
        for key in path:
            value = value[key]
        [item] = [item for item in value if ours.is_hook(item)]
        assert f"{PROGRAM[0]} hook {path[-1]} --host {name}" in json.dumps(item)
    texts = [text for text in tree(Path(where.home())).values() if text]
    assert any(b'"mcp"' in text and PROGRAM[0].encode() in text for text in texts)
    assert any(text.startswith(b"---\nname: coordrooms\n") for text in texts)


@pytest.mark.parametrize("name", NAMES)
def test_an_older_installation_is_brought_up_to_date(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = place(home)
    monkeypatch.setattr(plans, "program", lambda: ["/opt/old/bin/coordrooms"])
    install(name, where)
    monkeypatch.setattr(plans, "program", lambda: PROGRAM)
    install(name, where)
    texts = [text for text in tree(home).values() if text]
    assert not any(b"/opt/old" in text for text in texts)
    install(name, where, removal=True)
    assert tree(home) == {}


@pytest.mark.parametrize("name", NAMES)
def test_it_comes_out_though_nothing_is_remembered(name: str, home: Path, state: Path) -> None:
    where = place(home)
    install(name, where)
    shutil.rmtree(state)
    install(name, where, removal=True)
    left = {file: text for file, text in tree(home).items() if text is not None}
    assert not any(b"coordrooms" in text for text in left.values())


def test_a_hook_that_was_put_beside_theirs_goes_alone(home: Path) -> None:
    theirs = {"type": "command", "command": "say done"}
    mine = {"type": "command", "command": f"{PROGRAM[0]} hook Stop --host claude"}
    file = home / ".claude/settings.json"
    text = json.dumps({"hooks": {"Stop": [{"hooks": [theirs, mine]}]}}, indent=2)
    written(str(file), text)
    install("claude", place(home), removal=True)
    assert json.loads(file.read_text()) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_what_a_person_added_to_our_server_stays(home: Path) -> None:
    where = place(home)
    install("claude", where)
    file = home / ".claude.json"
    document = json.loads(file.read_text())
    document["mcpServers"]["coordrooms"] |= {"env": {"A": "b"}, "command": "/old/coordrooms"}
    file.write_text(json.dumps(document))
    install("claude", where)
    server = json.loads(file.read_text())["mcpServers"]["coordrooms"]
    assert (server["env"], server["command"]) == ({"A": "b"}, PROGRAM[0])


# --- links, modes, and two at once -------------------------------------------------------------


def test_a_link_stays_one(home: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "claude.json"
    written(str(kept), '{"theme": "dark"}\n')
    (home / ".claude").mkdir()
    link = home / ".claude/settings.json"
    link.symlink_to(kept)
    install("claude", place(home))
    assert link.is_symlink()
    assert "hooks" in json.loads(kept.read_text())
    install("claude", place(home), removal=True)
    assert kept.read_text() == '{"theme": "dark"}\n'


def test_a_mode_stays(home: Path) -> None:
    file = home / ".claude/settings.json"
    written(str(file), "{}")
    file.chmod(0o640)
    install("claude", place(home))
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.fixture
def commands(home: Path, state: Path) -> Any:
    def start(*arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [COORDROOMS, *arguments],
            env={"HOME": str(home), "XDG_STATE_HOME": str(state), "PATH": os.environ["PATH"]},
            cwd=home,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def test_two_at_once(commands: Any, home: Path) -> None:
    written(str(home / ".claude/settings.json"), '{"theme": "dark"}')
    running = [commands("install", "claude", "--yes") for _ in range(4)]
    running += [commands("install", "gemini", "--yes") for _ in range(2)]
    ended = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0] * 6, ended
    said = [out for out, _ in ended[:4]]
    assert sum("Done." in text for text in said) == 1
    assert sum("nothing to change" in text for text in said) == 3
    for name in ("claude", "gemini"):
        commands("uninstall", name, "--yes").communicate(timeout=60)
    assert tree(home) == {".claude": None, ".claude/settings.json": b'{"theme": "dark"}'}


def test_looking_changes_nothing(commands: Any, home: Path) -> None:
    process = commands("install", "codex", "--dry-run")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "hooks.SessionStart" in out
    assert "coordrooms hook SessionStart --host codex" in out
    assert tree(home) == {}
    process = commands("install", "codex", "--dry-run", "--json")
    out, _ = process.communicate(timeout=60)
    assert json.loads(out)["changed"] is False


def test_without_a_terminal_nobody_is_asked(commands: Any, home: Path) -> None:
    process = commands("install", "codex")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "--yes" in err
    assert tree(home) == {}


def test_no_secret_of_a_file_is_shown(commands: Any, home: Path) -> None:
    secret = "sk-not-for-your-eyes"
    written(str(home / ".claude.json"), json.dumps({"env": {"KEY": secret}}))
    written(str(home / ".codex/config.toml"), f'token = "{secret}"')
    for arguments in (["install", "claude"], ["install", "codex"], ["uninstall", "claude"]):
        out, err = commands(*arguments, "--yes").communicate(timeout=60)
        assert "Done." in out
        assert secret not in out + err


def test_a_host_that_nobody_knows(commands: Any) -> None:
    process = commands("install", "emacs", "--yes")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "claude, codex" in err
