"""One table of a TOML file, among all that others keep there."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordrooms.install.toml_tables import TomlError, with_table, without_table

NAME = "mcp_servers.coordrooms"
VALUES = {"command": "coordrooms", "args": ["mcp"], "tool_timeout_sec": 300}

lines = st.lists(
    st.sampled_from(
        [
            "",
            "# a thought",
            'model = "o3" # the usual',
            "[profiles.fast]",
            'text = """\n[not.a.table]\n"""',
            "many = [\n  [1, 2],\n  [3],\n]",
            "[[projects]]",
            "[mcp_servers.other]",
            '[projects."/home/ann/x"]',
            "point = { x = 1, y = 2 }",
        ]
    ),
    max_size=8,
)


@settings(deadline=None)
@given(lines, st.sampled_from(["", "\n"]), st.sampled_from(["\n", "\r\n"]))
def test_a_table_goes_in_and_comes_out_to_the_byte(rows: list[str], end: str, newline: str) -> None:
    text = ("\n".join(rows) + end).replace("\n", newline)
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    added = with_table(text, NAME, VALUES)
    assert tomllib.loads(added)["mcp_servers"]["coordrooms"] == VALUES
    assert added.startswith(text)
    assert with_table(added, NAME, VALUES) == added
    assert without_table(added, NAME) == text
    assert tomllib.loads(text) == before


def test_what_others_wrote_behind_it_stays() -> None:
    added = with_table('model = "o3"\n', NAME, VALUES)
    theirs = '\n# mine\n[projects."/x"]\ntrust_level = "trusted"\n'
    assert without_table(added + theirs, NAME) == f'model = "o3"\n{theirs}'


def test_what_was_added_to_it_goes_with_it() -> None:
    added = with_table("", NAME, VALUES)
    more = f'enabled = true\n[{NAME}.env]\nA = "b"\n[{NAME}.tools.wait]\napproval_mode = "auto"\n'
    assert without_table(added + more, NAME) == ""


def test_an_older_one_is_brought_up_to_date() -> None:
    old = f'[{NAME}]\ncommand = "old"\nenabled = false # off\n\n[other]\na = 1\n'
    new = with_table(old, NAME, VALUES)
    assert tomllib.loads(new)["mcp_servers"]["coordrooms"] == {**VALUES, "enabled": False}
    assert "enabled = false # off" in new
    assert tomllib.loads(new)["other"] == {"a": 1}


@pytest.mark.parametrize(
    "text", ["mcp_servers = { other = { command = 'x' } }\n", "mcp_servers = 7\n", "= broken"]
)
def test_what_cannot_be_changed_by_lines_is_refused(text: str) -> None:
    with pytest.raises(TomlError):
        with_table(text, NAME, VALUES)
