"""Homes of people who use agents, with what they keep in their hosts' files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from coordrooms.hosts import load
from coordrooms.hosts.facts import Host, Item, Place, Table, Whole
from coordrooms.install.plans import Plan

PROGRAM = ["/home/ann/.local/bin/coordrooms"]


def host(name: str) -> Host:
    found = load(name)
    assert found is not None
    return found


def place(home: Path, project: Path | None = None) -> Place:
    return Place(None if project is None else str(project), str(home), {})


def install(name: str, where: Place, *, removal: bool = False) -> None:
    plan = Plan(host(name), where, removal=removal)
    if plan.changed:
        plan.carry_out()


def written(file: str, text: str) -> None:
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_bytes(text.encode())


def files_of(name: str, where: Place) -> dict[str, str]:
    """The JSON and TOML files of a host, with the kind of each."""
    kinds = {}
    for edit in host(name).edits(where, PROGRAM):
        if not isinstance(edit, Whole):
            kinds[edit.file] = "toml" if isinstance(edit, Table) else "json"
    return kinds


def tree(folder: Path) -> dict[str, bytes | None]:
    """All files, with their bytes, and all folders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def hook_paths(name: str, where: Place) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (edit.file, edit.path)
        for edit in host(name).edits(where, PROGRAM)
        if isinstance(edit, Item)
    ]


# --- documents as people write them ----------------------------------------------------------

_spaces = st.sampled_from(["", " ", "\n", "\n  ", "\n\n    ", "\t"])
_comments = st.sampled_from(["", "", "", "/* mine */", " // mine, too\n", "\n  // why\n  "])
_words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
_scalars = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(-2, 2), _words)
_foreign_hook = st.fixed_dictionaries(
    {"hooks": st.just([{"type": "command", "command": "say 'coordrooms hook' is not mine"}])}
)


def values(names: list[str]) -> st.SearchStrategy[Any]:
    keys = st.one_of(st.sampled_from(names), _words)
    return st.recursive(
        _scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)
        ),
        max_leaves=8,
    )


@st.composite
def json_texts(draw: st.DrawFn, value: Any) -> str:
    """A text for a value, with whitespace, comments and trailing commas wherever they may be."""

    trailing_commas = draw(st.booleans())

    def gap() -> str:
        return draw(_spaces) + draw(_comments) + draw(_spaces)

    def written(value: Any) -> str:
        if isinstance(value, dict):
            parts = [
                f"{json.dumps(key)}{gap()}:{gap()}{written(part)}" for key, part in value.items()
            ]
            opening, closing = "{", "}"
        elif isinstance(value, list):
            parts = [written(part) for part in value]
            opening, closing = "[", "]"
        else:
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        trailing = "," if parts and trailing_commas else ""
        inside = ",".join(f"{gap()}{part}{gap()}" for part in parts) or gap()
        return f"{opening}{inside}{trailing}{gap()}{closing}"

    text = gap() + written(value) + gap()
    if draw(st.booleans()):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text


@st.composite
def settings(draw: st.DrawFn, paths: list[tuple[str, ...]]) -> dict[str, Any]:
    """An object as a host's settings are: of any contents, but fit for what belongs at `paths`."""
    top = sorted({path[0] for path in paths} | {"theme", "permissions"})
    document: dict[str, Any] = draw(st.dictionaries(_words, values(top), max_size=3))
    for path in paths:
        place = document
        for key in path[:-1]:
            if draw(st.integers(0, 3)) == 0:
                break
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                break
        else:
            if draw(st.booleans()):
                place[path[-1]] = draw(st.lists(_foreign_hook, max_size=2))
    return {
        key: value
        for key, value in document.items()
        if key not in {path[0] for path in paths} or isinstance(value, dict)
    }
