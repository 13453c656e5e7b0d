"""What `install` refuses, and then nothing is changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from coordrooms.install import plans, transactions
from coordrooms.install.failures import InstallError
from tests.unit.client.install.homes import (
    host,
    install,
    place,
    tree,
    written,
)


def refused(name: str, where: Any, *, removal: bool = False) -> str:
    folder = Path(where.home())
    before = tree(folder)
    with pytest.raises(InstallError) as raised:
        install(name, where, removal=removal)
    assert tree(folder) == before
    return str(raised.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"hooks": ', "line 1, column 11"),
        ("[]", "its outermost value is not an object"),
        ('{"hooks": []}', "hooks is not an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
    ],
)
def test_settings_that_cannot_be_understood(text: str, why: str, home: Path) -> None:
    written(str(home / ".claude/settings.json"), text)
    message = refused("claude", place(home))
    assert why in message
    assert str(home / ".claude/settings.json") in message


def test_settings_that_are_no_text(home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_bytes(b"\xff\xfe{}")
    assert "cannot be understood" in refused("gemini", place(home))


def test_a_server_of_that_name_that_is_not_ours(home: Path) -> None:
    theirs = {"mcpServers": {"coordrooms": {"command": "npx", "args": ["other"]}}}
    written(str(home / ".cursor/mcp.json"), json.dumps(theirs))
    assert "is not ours" in refused("cursor", place(home))
    written(str(home / ".codex/config.toml"), '[mcp_servers.coordrooms]\ncommand = "other"\n')
    assert "is not ours" in refused("codex", place(home))
    install("cursor", place(home), removal=True)
    assert json.loads((home / ".cursor/mcp.json").read_text()) == theirs


def test_a_skill_of_that_name_that_is_not_ours(home: Path) -> None:
    skill = home / ".claude/skills/coordrooms/SKILL.md"
    written(str(skill), "mine")
    assert "not as we wrote it" in refused("claude", place(home))
    install("claude", place(home), removal=True)
    assert skill.read_text() == "mine"


def test_a_skill_that_a_person_has_changed_is_kept(home: Path) -> None:
    install("claude", place(home))
    skill = home / ".claude/skills/coordrooms/SKILL.md"
    skill.write_text(skill.read_text() + "And be brief.\n")
    install("claude", place(home), removal=True)
    assert [file for file, text in tree(home).items() if text is not None] == [
        ".claude/skills/coordrooms/SKILL.md"
    ]


def test_a_file_that_is_read_only(home: Path) -> None:
    file = home / ".claude/settings.json"
    written(str(file), "{}")
    file.chmod(0o444)
    assert "read-only" in refused("claude", place(home))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(home: Path) -> None:
    folder = home / ".claude"
    folder.mkdir()
    folder.chmod(0o555)
    try:
        assert "cannot be written" in refused("claude", place(home))
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("removal", [False, True])
def test_all_or_nothing(
    number: int, removal: bool, home: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails at one file after the other; what was done before is undone."""
    where = place(home)
    written(str(home / ".claude/settings.json"), '{\n  // mine\n  "theme": "dark"\n}\n')
    if removal:
        install("claude", where)
    commit, count = transactions._commit, iter(range(100))

    def failing(change: transactions.Change) -> None:
        if next(count) == number:
            raise InstallError("the disk is full")
        commit(change)

    monkeypatch.setattr(transactions, "_commit", failing)
    remembered = {file: text for file, text in tree(state).items() if text is not None}
    assert refused("claude", where, removal=removal) == "the disk is full"
    assert {file: text for file, text in tree(state).items() if text is not None} == remembered
    monkeypatch.setattr(transactions, "_commit", commit)
    install("claude", where, removal=True)
    assert (home / ".claude/settings.json").read_text() == '{\n  // mine\n  "theme": "dark"\n}\n'


def test_a_file_that_another_program_writes_meanwhile(home: Path) -> None:
    file = home / ".claude.json"
    written(str(file), "{}")
    plan = plans.Plan(host("claude"), place(home))
    file.write_text('{"numStartups": 2}')
    with pytest.raises(InstallError, match="changed by another program"):
        plan.carry_out()
    assert tree(home) == {".claude.json": b'{"numStartups": 2}'}
