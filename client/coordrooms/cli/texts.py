"""Text for a terminal: what others wrote made harmless, colours, columns, times."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime

# Joiners hold emoji and some scripts together, and do no harm.
_JOINERS = "\u200c\u200d"
_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

_NAME_COLOURS = (31, 32, 33, 34, 35, 36)
# A question waits for somebody, a warning for everybody; the word says the same without colours.
_KIND_COLOURS = {"question": 35, "warning": 33, "answer": 36, "decision": 32, "result": 32}
_STATE_COLOURS = {"waiting": 32, "inactive": 2}

# Colours are our own: `safe` leaves no escape in what others wrote.
_COLOUR = re.compile(r"\x1b\[\d+m")
_UNITS = re.compile(rf"{_COLOUR.pattern}|.", re.DOTALL)
_END = "\x1b[0m"


class Style:
    """Colours, or none."""

    def __init__(self, *, coloured: bool) -> None:
        self._coloured = coloured

    def dim(self, text: str) -> str:
        return self._wrapped(text, 2)

    def bold(self, text: str) -> str:
        return self._wrapped(text, 1)

    def good(self, text: str) -> str:
        return self._wrapped(text, 32)

    def bad(self, text: str) -> str:
        return self._wrapped(text, 31)

    def name(self, name: str, text: str) -> str:
        """`text` in the colour of `name`, the same in every run."""
        return self._wrapped(text, _NAME_COLOURS[sum(name.encode()) % len(_NAME_COLOURS)])

    def kind(self, kind: str, text: str) -> str:
        """`text`, which says of which kind a message is, in that kind's colour."""
        colour = _KIND_COLOURS.get(kind)
        return self.bold(text if colour is None else self._wrapped(text, colour))

    def state(self, state: str, text: str) -> str:
        """`text`, which says how a member is there, in that state's colour."""
        colour = _STATE_COLOURS.get(state)
        return text if colour is None else self._wrapped(text, colour)

    def _wrapped(self, text: str, code: int) -> str:
        return f"\x1b[{code}m{text}{_END}" if self._coloured else text


def safe(text: str, *, lines: bool = False) -> str:
    """`text` with what could move a cursor, hide or turn round other text made visible.

    Line ends and tabs stay when `lines` is set.
    """
    if text.isprintable():
        return text
    kept = f"{_JOINERS}\n\t" if lines else _JOINERS
    return "".join(
        character
        if character in kept or unicodedata.category(character) not in _HARMFUL
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )


def width(text: str) -> int:
    """The columns that `text` takes; colours take none."""
    return sum(map(_character_width, _COLOUR.sub("", text)))


def padded(text: str, columns: int) -> str:
    return text + " " * max(0, columns - width(text))


def cut(text: str, columns: int) -> str:
    """`text`, with an ellipsis at its end if it takes more than that."""
    if width(text) <= columns:
        return text
    left, kept = columns - 1, []
    for unit in _UNITS.findall(text):
        left -= width(unit)
        if left < 0:
            break
        kept.append(unit)
    return "".join(kept) + (_END if _END in text else "") + "…"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned lines, the first one for the heads. The last column may be as wide as it likes."""
    columns = [max(map(width, column)) for column in zip(heads, *rows, strict=True)]
    columns[-1] = 0
    return ["  ".join(map(padded, row, columns)).rstrip() for row in (heads, *rows)]


def clock_time(at: datetime) -> str:
    """The time of day here, with the date when that is not today's."""
    here = at.astimezone()
    today = here.date() == datetime.now(UTC).astimezone().date()
    return here.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S")


def span(seconds: float) -> str:
    """A length of time, roughly: `12s`, `3m`, `5h`, `2d`."""
    for size, sign in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{sign}"
    return f"{max(0, int(seconds))}s"


def _character_width(character: str) -> int:
    if unicodedata.combining(character) or character in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
