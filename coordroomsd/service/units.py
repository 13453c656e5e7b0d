"""The files that systemd reads, as they come with the program and as they are put in place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from coordroomsd.service.errors import ServiceError

NAME: Final = "coordroomsd"
SERVICE: Final = f"{NAME}.service"
SOCKET: Final = f"{NAME}.socket"

_MADE_BY: Final = "# Made by `coordroomsd install-service`."
_HEAD: Final = re.compile(rf"{re.escape(_MADE_BY)}[^\n]*\n# [^\n]*?([0-9a-f]{{64}})\n")
_COMMAND: Final = re.compile(rf"(?<=[= ]){NAME}(?= (serve|check-config)\b)")
# What systemd.syntax(7) and systemd.service(5) give no meaning to, within quotes.
_PLAIN: Final = re.compile(r"[\w./+:@,=~ -]+")


def unit(kind: str, name: str, program: Sequence[str]) -> str:
    """A unit of `kind` system or user that starts the daemon by the words of `program`."""
    text = (_folder() / kind / name).read_text("utf-8")
    words = " ".join(map(_quoted, program))
    systemctl = "systemctl --user" if kind == "user" else "systemctl"
    advice = f"What you change belongs into a drop-in: {systemctl} edit {name}"
    return _marked(_COMMAND.sub(lambda _: words, text), advice)


def companion(name: str) -> str:
    """`coordroomsd.sysusers` or `coordroomsd.tmpfiles`."""
    return _marked((_folder() / name).read_text("utf-8"), "An upgrade replaces it.")


def is_as_made(text: str) -> bool:
    """Whether a file was put in place by us, by this version or another, and not edited since."""
    head = _HEAD.match(text)
    return head is not None and head[1] == _checksum(text[head.end() :])


def _marked(text: str, advice: str) -> str:
    return (
        f"{_MADE_BY} {advice}\n"
        f"# An edited file is left alone: the rest has the SHA-256 {_checksum(text)}\n{text}"
    )


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _quoted(word: str) -> str:
    if not _PLAIN.fullmatch(word):
        raise ServiceError(
            f"{word!r} has signs that mean something in a unit; install coordroomsd at a plain path"
        )
    return f'"{word}"' if " " in word else word


def _folder() -> Traversable:
    """Within the installed package, or beside it in a clone."""
    packed = resources.files("coordroomsd.service") / "units"
    return packed if packed.is_dir() else Path(__file__).parents[2] / "systemd"
