"""Putting an installation's pieces into files."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from ..hosts.facts import Edit, Item, Member, Needed, Table, Whole
from . import jsonc, ours, toml_tables
from .assets import asset, sha256
from .documents import Document, Path, shown
from .failures import InstallError
from .records import Record
from .removals import take_hooks


def put(document: Document, edit: Edit, record: Record, program: list[str]) -> None:
    """Put in what an edit asks for, unless it is there. Raises InstallError."""
    match edit:
        case Item():
            _put_item(document, edit, record)
        case Needed():
            if document.value_at(edit.path) is None:
                _insert(document, edit.path, edit.value, record)
        case Member():
            _put_member(document, edit, record)
        case Table():
            _put_table(document, edit, record)
        case Whole():
            _put_whole(document, edit, record, program)


def _put_item(document: Document, edit: Item, record: Record) -> None:
    present = document.value_at(edit.path) or []
    if not isinstance(present, list):
        raise document.unfit(edit.path, "a list")
    if [item for item in present if ours.has_hook(item)] == [edit.value]:
        return
    take_hooks(document, edit.path, record)
    _insert(document, edit.path, edit.value, record, in_array=True)
    document.said.append(f"+ {'.'.join(edit.path)}  {shown(edit.value)}")


def _put_member(document: Document, edit: Member, record: Record) -> None:
    present = document.value_at(edit.path)
    if present is None:
        _insert(document, edit.path, edit.value, record)
        document.said.append(f"+ {'.'.join(edit.path)}  {shown(edit.value)}")
        return
    if not ours.is_server(present):
        raise _foreign(document, edit.path[-1])
    # A person may have added to it: where the daemon is, for one.
    value = {**present, **edit.value}
    if value != present:
        assert document.text is not None
        parent = jsonc.lookup(document.root(), edit.path[:-1])
        entry = None if parent is None else parent.entry(edit.path[-1])
        assert entry is not None, "it is present"
        document.text = jsonc.replaced(document.text, entry, value)
        document.said.append(f"~ {'.'.join(edit.path)}  {shown(edit.value)}")


def _put_table(document: Document, edit: Table, record: Record) -> None:
    text = document.text or ""
    try:
        present = toml_tables.found(toml_tables.parsed(text), edit.name)
        if present is not None and not ours.is_server(present):
            raise _foreign(document, edit.name)
        result = toml_tables.with_table(text, edit.name, edit.value)
    except toml_tables.TomlError as fault:
        raise document.unreadable(fault) from fault
    if result != text:
        if document.text is None:
            record.of(document.file)["created"] = True
        document.text = result
        document.said.append(
            f"{'+' if present is None else '~'} [{edit.name}]  {shown(edit.value)}"
        )


def _put_whole(document: Document, edit: Whole, record: Record, program: list[str]) -> None:
    known = record.of(document.file)
    text = asset(edit.asset, program)
    if document.text not in (None, text):
        assert document.text is not None
        if sha256(document.text) != known.get("sha256"):
            raise InstallError(
                f"{document.file} is there already, and not as we wrote it. Move it away, and run "
                "this again."
            )
    if document.text != text:
        document.said.append("+ this file" if document.text is None else "~ this file")
    document.text = text
    known["sha256"] = sha256(text)


def _insert(
    document: Document, path: Path, value: Any, record: Record, *, in_array: bool = False
) -> None:
    """Add a value along `path`, making what is missing on the way."""
    known = record.of(document.file)
    if document.blank:
        if document.text is None:
            known["created"] = True
        else:
            known["blank"] = document.text
        document.text = jsonc.new_document(path[0], _nested(path[1:], value, in_array))
        _note_containers(known, path, 0, in_array)
        return
    assert document.text is not None
    root = document.root()
    depth = len(path) if in_array else len(path) - 1
    while (container := jsonc.lookup(root, path[:depth])) is None:
        depth -= 1
    key = path[depth] if depth < len(path) else None
    piece = value if key is None else _nested(path[depth + 1 :], value, in_array)
    if not isinstance(container.value, list if key is None else dict):
        raise document.unfit(path[:depth], "a list" if key is None else "an object")
    expected = deepcopy(root.value)
    place = expected
    for name in path[:depth]:
        place = place[name]
    if key is None:
        place.append(piece)
    else:
        place[key] = piece
    if not container.entries:
        space = jsonc.closing_space(document.text, container)
        known.setdefault("spaces", {})[json.dumps(path[:depth])] = space
    document.text = jsonc.inserted(document.text, container, key, piece)
    document.prove(expected)
    _note_containers(known, path, depth, in_array)


def _note_containers(known: dict[str, Any], path: Path, depth: int, in_array: bool) -> None:
    """Remember what was made below the first `depth` names of `path`."""
    made = known.setdefault("containers", [])
    for length in range(depth + 1, len(path) + 1):
        container = list(path[:length])
        if (in_array or length < len(path) or len(path) == 1) and container not in made:
            made.append(container)


def _nested(path: Path, value: Any, in_array: bool) -> Any:
    value = [value] if in_array else value
    for key in reversed(path):
        value = {key: value}
    return value


def _foreign(document: Document, name: str) -> InstallError:
    return InstallError(
        f"{document.file} has a server {name!r} that is not ours. Give it another name, and run "
        "this again."
    )
