"""Reading a room's file line by line: what is wrong is named with its line, and ends it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from pydantic import ValidationError

from coordroomsd.archives.errors import ArchiveError
from coordroomsd.archives.room_lines import (
    FORMAT,
    VERSION,
    ClaimLine,
    Counts,
    EventLine,
    Header,
    MemberLine,
    ReactionLine,
    line_value,
)

# A body of 64 KiB, of which every byte is escaped, and what is around it.
_LONGEST_LINE: Final = 512 * 1024


class RoomReader:
    """The lines of a file, each checked for itself."""

    def __init__(self, file: BinaryIO) -> None:
        """Read the header. Raises ArchiveError."""
        self._file = file
        self._number = 0
        try:
            first = self._next()
        except ArchiveError:
            first = {}
        match first:
            case {"format": str(name), "version": int(version)} if (
                name == FORMAT and version > VERSION
            ):
                raise ArchiveError(
                    f"the file is of format {version}, and this coordroomsd reads up to {VERSION}. "
                    "Import it with the version that made it, or a newer one"
                )
            case {"format": str(name)} if name == FORMAT:
                pass
            case _:
                raise self.fault("is not the beginning of what `coordroomsd export` writes")
        try:
            self.header = Header.model_validate(first)
        except ValidationError as error:
            raise self._invalid(error) from None

    def lines(self) -> Iterator[Any]:
        """The lines between the first and the last, whose counts must be right."""
        counted = {"members": 0, "claims": 0, "reactions": 0, "events": 0}
        order: tuple[type[Any], ...] = (MemberLine, ClaimLine, ReactionLine, EventLine)
        stage = 0
        while True:
            found = self._next()
            try:
                value = line_value(found)
            except ValidationError as error:
                raise self._invalid(error) from None
            if isinstance(value, Counts):
                if value.model_dump() != counted:
                    raise self.fault(f"counts {value.model_dump()}, and there were {counted}")
                if self._read():
                    raise self.fault("comes behind the end")
                return
            at = next(number for number, kind in enumerate(order) if isinstance(value, kind))
            if at < stage:
                raise self.fault("comes too late: members, claims, reactions, events is the order")
            stage = at
            counted[list(counted)[at]] += 1
            yield value

    def fault(self, problem: str) -> ArchiveError:
        return ArchiveError(f"line {self._number} {problem}. Nothing was imported")

    def _next(self) -> dict[str, Any]:
        line = self._read()
        if not line.endswith(b"\n"):
            raise self.fault("is cut short" if len(line) < _LONGEST_LINE else "is too long")
        try:
            found = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            raise self.fault("is not JSON in UTF-8") from None
        if not isinstance(found, dict):
            raise self.fault("is not a JSON object")
        return found

    def _read(self) -> bytes:
        self._number += 1
        return self._file.readline(_LONGEST_LINE)

    def _invalid(self, error: ValidationError) -> ArchiveError:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        return self.fault(f"is wrong{f' at {place}' if place else ''}: {first['msg']}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
