"""One table of a TOML document, put in and taken out by lines; `tomllib` proves each result."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

Json = dict[str, Any]

NOTE = "# From `coordrooms install`; `coordrooms uninstall` takes it out."
_NAME = r"""(?:"[^"\n]*"|'[^'\n]*'|[\w.\- \t])+?"""
_HEADER = re.compile(rf"^[ \t]*\[{{1,2}}[ \t]*({_NAME})[ \t]*\]{{1,2}}[ \t]*(?:#.*)?\r?$")


class TomlError(ValueError):
    """The document is no TOML, or cannot be changed by lines."""


def parsed(text: str) -> Json:
    """Raises TomlError."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as fault:
        raise TomlError(str(fault)) from fault


def found(document: Json, name: str) -> Any:
    """What the dotted name stands for; None when it is not there."""
    value: Any = document
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def with_table(text: str, name: str, values: Json) -> str:
    """`text` with the table at its end, or its values where it is already. Raises TomlError."""
    before = parsed(text)
    now = found(before, name)
    if now is None:
        result = _appended(text, name, values)
    elif isinstance(now, dict) and {**now, **values} == now:
        return text
    else:
        result = _changed(text, name, values)
    _prove(result, before, name, {**(now if isinstance(now, dict) else {}), **values})
    return result


def without_table(text: str, name: str) -> str:
    """`text` without the table and those below it. Raises TomlError."""
    before = parsed(text)
    if found(before, name) is None:
        return text
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    note_at = None
    ours = False
    for line in lines:
        header = _HEADER.match(line)
        if header:
            title = re.sub(r"[\"' \t]", "", header[1])
            was, ours = ours, title == name or title.startswith(f"{name}.")
            if ours and not was and kept and kept[-1].strip() == NOTE:
                kept.pop()
                note_at = len(kept)
        # Below the last value there may be what belongs to the next table.
        if not ours or (not header and not line.split("#")[0].strip()):
            kept.append(line)
    if note_at and (note_at == len(kept) or not kept[note_at - 1].strip()):
        # The line end that was put before the note.
        kept[note_at - 1] = kept[note_at - 1].removesuffix("\n").removesuffix("\r")
    result = "".join(kept)
    _prove(result, before, name, None)
    return result


def _appended(text: str, name: str, values: Json) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    rows = [NOTE, f"[{name}]", *(f"{key} = {_value(value)}" for key, value in values.items())]
    # One line end before the note, whatever stands there: it is the one that is taken back.
    return text + (newline if text else "") + newline.join([*rows, ""])


def _changed(text: str, name: str, values: Json) -> str:
    lines = text.splitlines(keepends=True)
    newline = "\r\n" if "\r\n" in text else "\n"
    titles = [header and re.sub(r"[\"' \t]", "", header[1]) for header in map(_HEADER.match, lines)]
    if name not in titles:
        raise TomlError(f"it has {name}, and not as a table [{name}]")
    start = titles.index(name) + 1
    end = next((n for n in range(start, len(lines)) if titles[n]), len(lines))
    for key, value in values.items():
        row = f"{key} = {_value(value)}{newline}"
        for n in range(start, end):
            if re.match(rf"[ \t]*{re.escape(key)}[ \t]*=", lines[n]):
                lines[n] = row
                break
        else:
            lines.insert(start, row)
            end += 1
    return "".join(lines)


def _value(value: Any) -> str:
    # Of what we write, a JSON string, number or array of strings is one of TOML, too.
    return json.dumps(value)


def _prove(text: str, before: Json, name: str, expected: Json | None) -> None:
    """Raises TomlError unless `text` says what `before` did, but for the one table."""
    after = parsed(text)
    if found(after, name) != expected or _without(after, name) != _without(before, name):
        raise TomlError(f"[{name}] cannot be changed without touching what is around it")


def _without(document: Json, name: str) -> Json:
    """A copy without the table, and without tables that are then empty."""
    first, _, rest = name.partition(".")
    kept = {key: value for key, value in document.items() if key != first}
    if rest and isinstance(document.get(first), dict):
        inner = _without(document[first], rest)
        if inner:
            kept[first] = inner
    elif rest and first in document:
        kept[first] = document[first]
    return kept
