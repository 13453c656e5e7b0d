"""JSON with comments and trailing commas, edited where it stands: all other bytes stay as they are.

A document is parsed into nodes that know their place in the text; an edit cuts or adds text there.
Taking something out is the exact reverse of putting it in, whitespace included.
"""

from __future__ import annotations

import json
import re
from typing import Any

_SPACE = " \t\r\n"
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_SCALAR = re.compile(r"-?[A-Za-z0-9.+-]+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')


class JsoncError(ValueError):
    """The text is no JSON, with or without comments; says where."""

    def __init__(self, text: str, at: int, problem: str) -> None:
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        super().__init__(f"line {line}, column {column}: {problem}")


class Node:
    """A value and where it stands: `text[start:end]`. `entries` are those of a container."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.value: Any = None
        self.entries: list[Entry] = []

    def entry(self, key: str) -> Entry | None:
        """The member of that name, which is the last one if there are several."""
        found = [entry for entry in self.entries if entry.key == key]
        return found[-1] if found else None


class Entry:
    """A member of an object (`key`) or an item of an array. It begins at `start`.

    `comma` is where the comma behind it stands, or None.
    """

    def __init__(self, start: int, key: str | None, node: Node) -> None:
        self.start = start
        self.key = key
        self.node = node
        self.comma: int | None = None


def parse(text: str) -> Node:
    """The root of a document. Raises JsoncError."""
    parser = _Parser(text)
    try:
        return parser.document()
    except RecursionError:
        raise JsoncError(text, 0, "it is nested too deeply") from None


def lookup(root: Node, path: tuple[str, ...]) -> Node | None:
    """The node found along `path`, if it is there."""
    node = root
    for key in path:
        entry = node.entry(key) if isinstance(node.value, dict) else None
        if entry is None:
            return None
        node = entry.node
    return node


def inserted(text: str, container: Node, key: str | None, value: Any) -> str:
    """`text` with an entry at the end of a container that is part of it."""
    style = _Style(text)
    if not container.entries:
        indent = style.indent_of(container.start)
        piece = style.newline + _piece(style, indent + style.unit, key, value)
        inside = text[container.start + 1 : container.end - 1]
        at = container.start + 1 + len(_without_trailing_space(inside))
        closing = text[at : container.end - 1]
        if "\n" not in closing:
            closing = style.newline + indent
        return text[:at] + piece + closing + text[container.end - 1 :]
    last = container.entries[-1]
    if "\n" not in text[container.start : container.entries[0].start]:
        piece = " " + _piece(style, None, key, value)
        if last.comma is None:
            return text[: last.node.end] + "," + piece + text[last.node.end :]
        return text[: last.comma + 1] + piece + "," + text[last.comma + 1 :]
    piece = style.newline + _piece(style, style.indent_of(last.start), key, value)
    behind = last.node.end if last.comma is None else last.comma + 1
    gap = text[behind : container.end - 1]
    at = behind + len(_without_trailing_space(gap))
    if last.comma is None:
        return text[:behind] + "," + text[behind:at] + piece + text[at:]
    return text[:at] + piece + "," + text[at:]


def removed(text: str, container: Node, entry: Entry) -> str:
    """`text` without an entry of a container that is part of it."""
    index = container.entries.index(entry)
    previous = container.entries[index - 1] if index else None
    start = len(_without_trailing_space(text[: entry.start]))
    kept = text[:start]
    if entry.comma is not None:
        rest = text[entry.comma + 1 :]
    else:
        rest = text[entry.node.end :]
        if previous is not None:
            assert previous.comma is not None, "an entry follows"
            kept = text[: previous.comma] + text[previous.comma + 1 : start]
    behind = container.start + 1 if previous is None else previous.node.end
    if _ends_in_line_comment(text[behind:start]) and not rest.lstrip(" \t\r").startswith("\n"):
        kept += "\n"
    return kept + rest


def replaced(text: str, entry: Entry, value: Any) -> str:
    """`text` with another value in the place of an entry's."""
    style = _Style(text)
    one_line = "\n" not in text[entry.node.start : entry.node.end]
    dumped = style.dumped(value, None if one_line else style.indent_of(entry.start))
    return text[: entry.node.start] + dumped + text[entry.node.end :]


def closing_space(text: str, container: Node) -> str:
    """The whitespace before the closing bracket of a container without entries."""
    inside = text[container.start + 1 : container.end - 1]
    return inside[len(_without_trailing_space(inside)) :]


def with_closing_space(text: str, container: Node, space: str) -> str:
    """`text` with that whitespace there instead."""
    inside = text[container.start + 1 : container.end - 1]
    at = container.start + 1 + len(_without_trailing_space(inside))
    return text[:at] + space + text[container.end - 1 :]


def new_document(key: str, value: Any) -> str:
    return json.dumps({key: value}, indent=2, ensure_ascii=False) + "\n"


def _ends_in_line_comment(gap: str) -> bool:
    """For what stands between two entries: whitespace, comments and a comma."""
    comments = list(_COMMENT.finditer(gap))
    return bool(comments) and comments[-1][0].startswith("//") and comments[-1].end() == len(gap)


def _without_trailing_space(text: str) -> str:
    return text.rstrip(_SPACE)


def _piece(style: _Style, indent: str | None, key: str | None, value: Any) -> str:
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    return (indent or "") + name + style.dumped(value, indent)


class _Style:
    """How a document is laid out."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = re.search(r'^([ \t]+)["\[{]', text, flags=re.MULTILINE)
        self.unit = found[1] if found else "  "

    def indent_of(self, at: int) -> str:
        """The indentation of the line in which `at` stands."""
        line = self._text[self._text.rfind("\n", 0, at) + 1 :]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def dumped(self, value: Any, indent: str | None) -> str:
        if indent is None:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, indent=self.unit, ensure_ascii=False).split("\n")
        return f"{self.newline}{indent}".join(lines)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        # Windows editors begin a file with a byte order mark.
        self._at = 1 if text.startswith("\ufeff") else 0

    def document(self) -> Node:
        self._skip()
        root = self._value()
        self._skip()
        if self._at < len(self._text):
            raise self._error("there is more behind the end of the document")
        return root

    def _value(self) -> Node:
        node = Node(self._at)
        match self._text[self._at : self._at + 1]:
            case "{":
                self._container(node, "}")
                node.value = {entry.key: entry.node.value for entry in node.entries}
            case "[":
                self._container(node, "]")
                node.value = [entry.node.value for entry in node.entries]
            case '"':
                node.value = self._string()
            case _:
                node.value = self._scalar()
        node.end = self._at
        return node

    def _container(self, node: Node, closing: str) -> None:
        self._at += 1
        while True:
            self._skip()
            if self._text.startswith(closing, self._at):
                self._at += 1
                return
            if node.entries and node.entries[-1].comma is None:
                raise self._error(f"a comma or {closing} is missing")
            start = self._at
            key = None
            if closing == "}":
                key = self._string()
                self._skip()
                self._expect(":")
                self._skip()
            entry = Entry(start, key, self._value())
            node.entries.append(entry)
            self._skip()
            if self._text.startswith(",", self._at):
                entry.comma = self._at
                self._at += 1

    def _string(self) -> str:
        found = _STRING.match(self._text, self._at)
        if found is None:
            raise self._error("a string in double quotes was expected")
        try:
            value: str = json.loads(found[0])
        except ValueError:
            raise self._error("the string has an escape that JSON does not know") from None
        self._at = found.end()
        return value

    def _scalar(self) -> Any:
        found = _SCALAR.match(self._text, self._at)
        try:
            value = json.loads(found[0]) if found else None
        except ValueError:
            found = None
        if found is None:
            raise self._error("a value was expected")
        self._at = found.end()
        return value

    def _skip(self) -> None:
        """Go past whitespace and comments."""
        text = self._text
        while self._at < len(text):
            if text[self._at] in _SPACE:
                self._at += 1
            elif text.startswith("//", self._at):
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            elif text.startswith("/*", self._at):
                end = text.find("*/", self._at + 2)
                if end < 0:
                    raise self._error("a comment does not end")
                self._at = end + 2
            else:
                return

    def _expect(self, mark: str) -> None:
        if not self._text.startswith(mark, self._at):
            raise self._error(f"{mark} is missing")
        self._at += len(mark)

    def _error(self, problem: str) -> JsoncError:
        return JsoncError(self._text, self._at, problem)
