"""What an installation has to remember to be taken back to the byte.

Never the contents of a person's file: where brackets were empty, the whitespace between them; which
containers, folders and files are ours; and a hash of what was written whole.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..private_files import state_directory

Json = dict[str, Any]


class Record:
    """One installation's: what is known of each file, and the folders that were made for them.

    Of a file: whether it was `created`, or else was `blank` and how; the `containers` that were
    made; the `spaces` between brackets that were empty; the `sha256` of what was written whole.
    """

    def __init__(self, path: str, document: Json | None = None) -> None:
        self.path = path
        self.found = document is not None
        document = document or {}
        self.files: dict[str, Json] = document.get("files", {})
        self.folders: list[str] = document.get("folders", [])

    def of(self, file: str) -> Json:
        return self.files.setdefault(file, {})

    def text(self) -> str:
        files = {path: known for path, known in self.files.items() if known}
        return json.dumps({"files": files, "folders": self.folders}, indent=1) + "\n"


def record_path(host: str, root: str | None) -> str:
    """One file for each host, and for the user or a project."""
    place = "user" if root is None else hashlib.sha256(root.encode()).hexdigest()[:16]
    return state_directory("installs", f"{host}-{place}.json")


def read_record(path: str) -> Record:
    """An installation's record; an empty one when there is none that can be read."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        return Record(path, document if isinstance(document, dict) else None)
    except (OSError, ValueError):
        return Record(path)
