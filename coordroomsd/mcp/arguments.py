"""Arguments as agents send them, checked against the schemas that are advertised.

The SDK's low-level server hands on whatever comes. Models vary spellings (`roomName`, `room_name`),
send null for what they leave out, and learn best from an error that names every fault at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from coordroomsd.domain.errors import Refusal, invalid_fields
from coordroomsd.mcp.catalogues import Schema

# Names that mean one argument, beyond case and underscores. A tool has at most one of each row.
SYNONYMS: Final = (
    ("room", "roomname"),
    ("afterseq", "afterid"),
    ("replyto", "replytomessageid"),
)
_MEANING: Final = {name: row[0] for row in SYNONYMS for name in row}

_PYTHON: Final[dict[str, tuple[type, ...]]] = {
    "array": (list,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}
_WORDS: Final = {
    "array": "a list",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}
# Numbers of events, in Postgres and on the wire.
_LARGEST: Final = 2**63 - 1


class ArgumentsError(Refusal):
    """`invalid_arguments` whose fields are the tool's own, or what the agent wrote."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        refusal = invalid_fields(faults)
        super().__init__(refusal.code, refusal.detail, **refusal.extra)


class _Check:
    """One walk along a schema; `faults` as (field, problem)."""

    def __init__(self) -> None:
        self.faults: list[tuple[str, str]] = []

    def object(self, schema: Schema, given: Mapping[str, Any], path: str = "") -> dict[str, Any]:
        properties: Schema = schema["properties"]
        names = {meaning(name): name for name in properties}
        values: dict[str, Any] = {}
        seen: set[str] = set()
        for spelled, value in given.items():
            name = names.get(meaning(spelled))
            if name is None:
                self._fault(path + _printable(spelled), _unknown(spelled, properties))
            elif name in seen:
                self._fault(path + _printable(spelled), f"is {name} once more; give it once")
            else:
                seen.add(name)
                if value is not None or "null" in _types(properties[name]):
                    values[name] = self.value(properties[name], value, path + name)
        for name in schema.get("required", []):
            if name not in values:
                self._fault(path + name, "is missing")
        return values

    def value(self, schema: Schema, given: Any, path: str) -> Any:
        types = _types(schema)
        if types == ["array"] and isinstance(given, str):
            given = [given]
        allowed = tuple(kind for name in types for kind in _PYTHON[name])
        if isinstance(given, bool) or not isinstance(given, allowed):
            self._fault(path, f"should be {' or '.join(_WORDS[name] for name in types)}")
        elif problem := _problem(schema, given):
            self._fault(path, problem)
        elif isinstance(given, dict):
            return self.object(schema, given, f"{path}.")
        elif isinstance(given, list):
            items = enumerate(given)
            return [self.value(schema["items"], item, f"{path}[{n}]") for n, item in items]
        return given

    def _fault(self, field: str, problem: str) -> None:
        self.faults.append((field, problem))


def checked(schema: Schema, given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` under the names that `schema` advertises, without what is null and need not be there.

    Raises `invalid_arguments` with every fault.
    """
    check = _Check()
    values = check.object(schema, given)
    if check.faults:
        raise ArgumentsError(check.faults)
    return values


def _problem(schema: Schema, given: Any) -> str | None:
    """What is wrong with a value of the right type."""
    match given:
        case str():
            if not _is_text(given):
                return "is not text: it has half of a surrogate pair"
            if not given.strip():
                return "must not be blank"
            if given not in schema.get("enum", [given]):
                return f"should be one of {', '.join(schema['enum'])}"
        case int() | float():
            low, high = schema.get("minimum", 0), schema.get("maximum", _LARGEST)
            if not low <= given <= high:  # which NaN is not either
                return f"should be from {low} to {high}"
        case list():
            low, high = schema.get("minItems", 0), schema.get("maxItems", len(given))
            if not low <= len(given) <= high:
                return f"has {len(given)} items; {low} to {high} are allowed"
    return None


def _types(schema: Schema) -> list[str]:
    named = schema["type"]
    return named if isinstance(named, list) else [named]


def meaning(name: str) -> str:
    """Equal for all spellings of one argument."""
    folded = name.replace("_", "").casefold()
    return _MEANING.get(folded, folded)


def _unknown(spelled: str, properties: Iterable[str]) -> str:
    near = difflib.get_close_matches(spelled, properties, n=1)
    return "is no argument of this tool" + (f"; is {near[0]} meant?" if near else "")


def _is_text(given: str) -> bool:
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable(name: str) -> str:
    """A name as an error may repeat it."""
    return name[:100].encode("ascii", "backslashreplace").decode()
