"""What a text may hold: names, keys and statuses are one visible line, bodies are kept as sent."""

from __future__ import annotations

import functools
import unicodedata
from datetime import UTC, datetime

LINE_MAX_CHARACTERS = 120
BODY_MAX_BYTES = 64 * 1024

_JOINER = "\u200d"
# Letters, marks and a Braille cell that show as nothing; a name made of them would look empty.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Not assigned yet, and meant to show as nothing (Unicode, Default_Ignorable_Code_Point).
_RESERVED = frozenset({0x2065, *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)})
# They choose how the sign before is drawn, which scripts and emoji need; alone they show nothing.
_SELECTORS = frozenset(
    map(chr, (*range(0x180B, 0x180E), 0x180F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
# Controls, format signs (bidirectional and zero-width ones), halves of surrogate pairs, line and
# paragraph ends.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_EMOJI_CATEGORIES = frozenset({"So", "Sk"})  # Sk holds the skin tones
_EMOJI_PRESENTATION = "\ufe0f"


def one_line(text: str) -> str:
    """`text` trimmed, once it is one visible line of 1 to 120 characters.

    Raises ValueError with the reason, worded to follow the field's name.
    """
    line = text.strip()
    if not line:
        raise ValueError("must not be blank")
    if len(line) > LINE_MAX_CHARACTERS:
        raise ValueError(f"has {len(line)} characters; at most {LINE_MAX_CHARACTERS} are allowed")
    for position, sign in enumerate(line):
        if sign.isascii() and sign.isprintable():
            continue
        if _is_hidden(line, position):
            raise ValueError(
                f"must be one visible line; character {position + 1} is U+{ord(sign):04X}"
            )
    return line


def _is_hidden(line: str, position: int) -> bool:
    sign = line[position]
    if sign == _JOINER:
        return not _inside_an_emoji(line, position)
    if sign in _SELECTORS:
        before = line[position - 1 : position]
        return before.strip() == "" or before in _SELECTORS
    return (
        sign in _INVISIBLE
        or ord(sign) in _RESERVED
        or unicodedata.category(sign) in _HIDDEN_CATEGORIES
    )


def _inside_an_emoji(line: str, position: int) -> bool:
    before = line[:position].rstrip(_EMOJI_PRESENTATION)[-1:]
    after = line[position + 1 : position + 2]
    return all(side and unicodedata.category(side) in _EMOJI_CATEGORIES for side in (before, after))


def storable(text: str) -> str:
    """`text` unchanged, if it can be kept: UTF-8 without NUL, for which Postgres has no place.

    Raises ValueError with the reason.
    """
    if "\0" in text:
        raise ValueError("must not contain the character NUL")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("is no text: it has half of a surrogate pair") from None
    return text


def readable_body(text: str) -> str:
    """`text` unchanged, once it can be kept and has something to read.

    Raises ValueError with the reason. Its size is another rule: `body_size`.
    """
    storable(text)
    if not text or text.isspace():
        raise ValueError("must not be blank")
    return text


def body_size(text: str) -> int:
    """Bytes of a body as it is counted against `BODY_MAX_BYTES`."""
    return len(text) if text.isascii() else len(text.encode())


def room_name(text: str) -> str:
    """A line that can name a room in a path. Raises ValueError with the reason."""
    name = one_line(text)
    if "/" in name:
        raise ValueError("must not contain a slash")
    if name.startswith("@"):
        raise ValueError("must not begin with @")
    if not slug(name):
        raise ValueError("needs a letter or a digit")
    return name


def slug(name: str) -> str:
    """A name as in a path: every run of signs but letters, marks and digits is `-`."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    spaced = "".join(sign if _in_a_slug(sign) else " " for sign in folded)
    return "-".join(spaced.split())


def _in_a_slug(sign: str) -> bool:
    return unicodedata.category(sign) in _SLUG_CATEGORIES


_SLUG_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd"})


# All events of a batch have one time, and each is shown again and again.
@functools.lru_cache(maxsize=1024)
def instant(moment: datetime) -> str:
    """A time as it is on the wire: RFC 3339, UTC, milliseconds, `Z`."""
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='milliseconds')}Z"
