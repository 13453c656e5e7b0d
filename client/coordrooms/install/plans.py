"""What an installation, or its removal, would change."""

from __future__ import annotations

import os
import shutil
import sys

from ..hosts.facts import Host, Place
from ..private_files import FILE_MODE, make_private_directory
from .documents import Document
from .insertions import put
from .records import read_record, record_path
from .removals import take, take_rest
from .transactions import Change, drop_folders, make_folders, write

NAME = "coordrooms"


class Plan:
    """The files of one host at one place, edited in memory. Raises InstallError when made."""

    def __init__(self, host: Host, place: Place, *, removal: bool = False) -> None:
        self.host = host
        self.place = place
        self.removal = removal
        self.record = read_record(record_path(host.name, place.root))
        self._documents: dict[str, Document] = {}
        words = program()
        edits = host.edits(place, words)
        for edit in edits:
            if removal:
                take(self._document(edit.file), edit, self.record, words)
            else:
                put(self._document(edit.file), edit, self.record, words)
        if removal:
            for edit in edits:
                take_rest(self._document(edit.file), edit, self.record)

    @property
    def changed(self) -> list[Document]:
        return [document for document in self._documents.values() if document.changed]

    @property
    def remarks(self) -> list[Document]:
        """Files about which there is something to say, changed or not."""
        return [document for document in self._documents.values() if document.said]

    def carry_out(self) -> None:
        """Write it all. Raises InstallError, and then nothing is written."""
        changes = [Change(file.file, file.before, file.after) for file in self.changed]
        made = [] if self.removal else make_folders([change.path for change in changes])
        self.record.folders += [folder for folder in made if folder not in self.record.folders]
        make_private_directory(os.path.dirname(self.record.path))
        try:
            write([*changes, *self._record_changes()])
        except BaseException:
            drop_folders(made)
            raise
        if self.removal:
            drop_folders(self.record.folders)

    def _record_changes(self) -> list[Change]:
        try:
            with open(self.record.path, "rb") as file:
                before: bytes | None = file.read()
        except FileNotFoundError:
            before = None
        after = None if self.removal else self.record.text().encode()
        return [Change(self.record.path, before, after, FILE_MODE)] if before or after else []

    def _document(self, file: str) -> Document:
        if file not in self._documents:
            self._documents[file] = Document(file)
        return self._documents[file]


def program() -> list[str]:
    """The words that start this command from anywhere.

    The bare name where every shell finds it; a path where only an activated environment does.
    """
    called = os.path.basename(sys.argv[0]) == NAME
    own = shutil.which(sys.argv[0]) if called else None
    if own is None:
        own = os.path.join(os.path.dirname(sys.executable), NAME)
        if not os.access(own, os.X_OK):
            return [sys.executable, "-P", "-m", NAME]
    found = shutil.which(NAME)
    activated = sys.prefix != sys.base_prefix and found == os.path.join(sys.prefix, "bin", NAME)
    if found is not None and os.path.samefile(found, own) and not activated:
        return [NAME]
    return [os.path.abspath(own)]


def place(project: str | None) -> Place:
    """This user, or the project at that path."""
    root = None if project is None else os.path.abspath(project)
    return Place(root, os.path.expanduser("~"), os.environ)
