"""Taking an installation's pieces out of files again, and nothing else."""

from __future__ import annotations

import json
from copy import deepcopy

from ..hosts.facts import Edit, Item, Member, Needed, Table, Whole
from . import jsonc, ours, toml_tables
from .assets import asset, sha256
from .documents import Document, Path
from .records import Record


def take(document: Document, edit: Edit, record: Record, program: list[str]) -> None:
    """Take out what an edit put in, if it is there. Raises InstallError."""
    if document.text is None:
        return
    match edit:
        case Needed():
            return  # with the file, or not at all
        case Item():
            if take_hooks(document, edit.path[:1], record):
                document.said.append(f"- {edit.path[0]} that run coordrooms")
        case Member():
            if ours.is_server(document.value_at(edit.path)):
                _take_member(document, edit.path, record)
                document.said.append(f"- {'.'.join(edit.path)}")
        case Table():
            _take_table(document, edit)
        case Whole():
            _take_whole(document, edit, record, program)


def take_rest(document: Document, edit: Edit, record: Record) -> None:
    """Take away the file of an edit when it was made for us and there is nothing else in it."""
    if document.text is None or not document.said or isinstance(edit, Whole):
        return
    known = record.of(document.file)
    if isinstance(edit, Table):
        empty = document.blank
    else:
        made = list(edit.path) in known.get("containers", [])
        if isinstance(edit, Needed) and made and document.value_at(edit.path) == edit.value:
            # In a file that was made for us, others may have come to need it, too.
            alone = [*document.root().value] == [*edit.path]
            if alone or not known.get("created"):
                _take_member(document, edit.path, record)
        empty = not document.text.strip("\ufeff{} \t\r\n")
    if empty and known.get("created"):
        document.text = None
    elif empty and "blank" in known:
        document.text = known["blank"]


def take_hooks(document: Document, path: Path, record: Record) -> bool:
    """Take our hooks out of the array at `path`, or out of all arrays of the object there."""
    taken = False
    while document.text is not None and not document.blank:
        found = _our_hook(document.root(), path)
        if found is None:
            break
        where, container, entry = found
        document.text = jsonc.removed(document.text, container, entry)
        document.root()
        _drop_empty(document, where, record)
        taken = True
    return taken


def _our_hook(root: jsonc.Node, path: Path) -> tuple[Path, jsonc.Node, jsonc.Entry] | None:
    """One of our hooks: the array's path, the container it stands in, and its entry there."""
    place = jsonc.lookup(root, path)
    if place is None:
        return None
    arrays = [(path, place)]
    if isinstance(place.value, dict):
        arrays = [((*path, str(entry.key)), entry.node) for entry in place.entries]
    for where, array in arrays:
        for entry in array.entries if isinstance(array.value, list) else []:
            if ours.is_hook(entry.node.value):
                return where, array, entry
            # A person may have put ours beside theirs.
            shared = entry.node.entry("hooks") if isinstance(entry.node.value, dict) else None
            for handler in shared.node.entries if shared else []:
                if shared and ours.is_hook(handler.node.value):
                    return where, shared.node, handler
    return None


def _take_member(document: Document, path: Path, record: Record) -> None:
    """Take a member out, and the containers that were made for it and are empty now."""
    assert document.text is not None
    root = document.root()
    parent = jsonc.lookup(root, path[:-1])
    entry = None if parent is None else parent.entry(path[-1])
    assert parent is not None, "it is there"
    assert entry is not None, "it is there"
    expected = deepcopy(root.value)
    place = expected
    for name in path[:-1]:
        place = place[name]
    del place[path[-1]]
    document.text = jsonc.removed(document.text, parent, entry)
    document.prove(expected)
    _drop_empty(document, path[:-1], record)


def _drop_empty(document: Document, path: Path, record: Record) -> None:
    """Undo what was done to a container that was made for us, or was empty before."""
    assert document.text is not None
    node = jsonc.lookup(document.root(), path)
    if node is None or node.value:
        return
    known = record.of(document.file)
    space = known.get("spaces", {}).get(json.dumps(path))
    if path and (list(path) in known.get("containers", []) or not record.found):
        _take_member(document, path, record)
    elif space is not None:
        document.text = jsonc.with_closing_space(document.text, node, space)


def _take_table(document: Document, edit: Table) -> None:
    assert document.text is not None
    try:
        if not ours.is_server(toml_tables.found(toml_tables.parsed(document.text), edit.name)):
            return
        document.text = toml_tables.without_table(document.text, edit.name)
    except toml_tables.TomlError as fault:
        raise document.unreadable(fault) from fault
    document.said.append(f"- [{edit.name}]")


def _take_whole(document: Document, edit: Whole, record: Record, program: list[str]) -> None:
    known = record.of(document.file)
    assert document.text is not None
    if sha256(document.text) in (known.get("sha256"), sha256(asset(edit.asset, program))):
        document.text = None
        document.said.append("- this file")
    else:
        document.said.append("(kept: somebody has changed it)")
