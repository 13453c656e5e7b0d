"""Files of ours, inboxes among them, that others may look into."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from ..errors import ConfigurationError
from ..private_files import DIRECTORY_MODE, FILE_MODE, config_directory, state_directory
from .findings import Finding

_OTHERS = 0o077


def file_findings() -> Iterator[Finding]:
    """One line for each file or folder that is open to others, or one that none is."""
    try:
        roots = [state_directory(), config_directory()]
    except ConfigurationError as fault:
        yield Finding("files", False, str(fault), "Set HOME, or XDG_STATE_HOME.")
        return
    found = [path for root in roots for path in _everything(root)]
    open_to_others = [path for path in found if _mode(path) & _OTHERS]
    for path in open_to_others:
        wanted = DIRECTORY_MODE if os.path.isdir(path) else FILE_MODE
        problem = f"others may use {path} (mode {_mode(path):04o})"
        yield Finding("files", False, problem, f"chmod {wanted:o} {path}")
    if not open_to_others:
        there = [root for root in roots if os.path.isdir(root)]
        text = " and ".join(there) if there else "none yet"
        yield Finding("files", True, f"inboxes, tokens and traces are for you alone: {text}")


def _everything(root: str) -> Iterator[str]:
    if os.path.isdir(root):
        yield root
    for folder, names, files in os.walk(root):
        yield from (os.path.join(folder, name) for name in [*names, *files])


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except OSError:
        return 0  # it is gone meanwhile
