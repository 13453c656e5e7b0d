"""Files that are ours as a whole."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files


def asset(name: str, program: list[str]) -> str:
    """A file that comes with this package, with the command's words filled in."""
    text = files("coordrooms").joinpath("assets", name).read_text(encoding="utf-8")
    return text.replace("@PROGRAM@", json.dumps(program))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
