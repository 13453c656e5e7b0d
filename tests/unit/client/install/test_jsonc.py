"""JSON edited where it stands: what is put in is there, and comes out without a trace."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordrooms.install import jsonc
from tests.unit.client.install.homes import json_texts, values

ADDED = {"command": "coordrooms", "args": ["mcp"]}


def containers(
    node: jsonc.Node, path: tuple[Any, ...] = ()
) -> list[tuple[tuple[Any, ...], jsonc.Node]]:
    found = [(path, node)] if isinstance(node.value, dict | list) else []
    for number, entry in enumerate(node.entries):
        found += containers(entry.node, (*path, number))
    return found


def at(root: jsonc.Node, path: tuple[int, ...]) -> jsonc.Node:
    for number in path:
        root = root.entries[number].node
    return root


@settings(deadline=None)
@given(st.data())
def test_a_document_is_read_as_it_was_meant(data: st.DataObject) -> None:
    value = data.draw(values(["a"]))
    assert jsonc.parse(data.draw(json_texts(value))).value == value


@settings(deadline=None)
@given(st.data())
def test_what_is_put_in_comes_out_to_the_byte(data: st.DataObject) -> None:
    text = data.draw(
        json_texts(data.draw(values(["a", "b"]).filter(lambda v: isinstance(v, dict | list))))
    )
    root = jsonc.parse(text)
    path, container = data.draw(st.sampled_from(containers(root)))
    key = "coordrooms" if isinstance(container.value, dict) else None
    space = jsonc.closing_space(text, container) if not container.entries else None
    added = jsonc.inserted(text, container, key, ADDED)
    again = jsonc.parse(added)
    there = at(again, path)
    if key is None:
        assert there.value == [*container.value, ADDED]
    else:
        assert there.value == {**container.value, key: ADDED}
    back = jsonc.removed(added, there, there.entries[-1])
    if space is not None:
        back = jsonc.with_closing_space(back, at(jsonc.parse(back), path), space)
    assert back == text


@settings(deadline=None)
@given(st.data())
def test_any_entry_can_be_taken_out(data: st.DataObject) -> None:
    text = data.draw(
        json_texts(
            data.draw(values(["a"]).filter(bool).filter(lambda v: isinstance(v, dict | list)))
        )
    )
    root = jsonc.parse(text)
    number = data.draw(st.integers(0, len(root.entries) - 1))
    after = jsonc.parse(jsonc.removed(text, root, root.entries[number])).value
    kept = [entry for n, entry in enumerate(root.entries) if n != number]
    if isinstance(root.value, dict):
        assert after == {entry.key: entry.node.value for entry in kept}
    else:
        assert after == [entry.node.value for entry in kept]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "k": 1\n}'),
        ('{\n\t"a": 2\n}\n', '{\n\t"a": 2,\n\t"k": 1\n}\n'),
        ('{"a": 2}', '{"a": 2, "k": 1}'),
        ('{\n  "a": 2, // why\n}', '{\n  "a": 2, // why\n  "k": 1,\n}'),
        ('{\n  "a": 2 // why\n}', '{\n  "a": 2, // why\n  "k": 1\n}'),
        ('{\r\n  "a": 2\r\n}', '{\r\n  "a": 2,\r\n  "k": 1\r\n}'),
    ],
)
def test_it_looks_as_if_its_owner_had_written_it(before: str, after: str) -> None:
    assert jsonc.inserted(before, jsonc.parse(before), "k", 1) == after


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1,, "b": 2}', "line 1, column 9"),
        ('{\n  "a" 1\n}', "line 2, column 7"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1} {', "line 1, column 10"),
        ('{"a": nul}', "line 1, column 7"),
        ('{"a": "\\x"}', "line 1, column 7"),
        ("[1, 2", "line 1, column 6"),
        ("/* never", "line 1, column 1"),
        ("", "line 1, column 1"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_says_where(text: str, where: str) -> None:
    with pytest.raises(jsonc.JsoncError, match=where):
        jsonc.parse(text)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_it_takes_all_that_json_takes(text: str) -> None:
    try:
        expected = json.loads(text)
    except (ValueError, RecursionError):
        return
    if expected == expected:
        assert jsonc.parse(text).value == expected
