"""Files that only their owner may read: tokens and inboxes, below the XDG base directories."""

from __future__ import annotations

import os
import re
import stat

from .errors import ConfigurationError

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
_OTHERS = 0o077

# Short enough for every file system, with a digest and an ending behind it.
_NAME_LENGTH = 80


def config_directory(*below: str) -> str:
    """`$XDG_CONFIG_HOME/coordrooms/…` (`~/.config/…`). Raises ConfigurationError without a home."""
    return os.path.join(_base("XDG_CONFIG_HOME", ".config"), "coordrooms", *below)


def state_directory(*below: str) -> str:
    """`$XDG_STATE_HOME/coordrooms/…` (`~/.local/state/…`). Raises ConfigurationError as above."""
    return os.path.join(_base("XDG_STATE_HOME", ".local/state"), "coordrooms", *below)


def file_name(text: str) -> str:
    """A file name for any text: the text itself where that is safe, else like it and a digest.

    Texts that differ in capitals only have different names, also where the file system has none.
    """
    plain = re.sub(r"[^a-z0-9._@-]+", "-", text.lower())[:_NAME_LENGTH].strip("-.")
    if plain and plain == text:
        return plain
    from hashlib import sha256

    digest = sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{plain}-{digest}".lstrip("-")


def make_private_directory(path: str) -> None:
    """Make a directory, and those above it, for its owner alone.

    Raises ConfigurationError when it cannot be made, or is there and open to others.
    """
    try:
        _make_directories(path)
    except OSError as error:
        raise ConfigurationError(
            f"The directory {path} cannot be made: {error.strerror}. Make it yourself (mode "
            f"{DIRECTORY_MODE:04o}), or set XDG_CONFIG_HOME and XDG_STATE_HOME to other places."
        ) from error
    refuse_open_to_others(path)


def refuse_open_to_others(path: str) -> None:
    """Raises ConfigurationError, with the remedy, when others than its owner may use the file."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be used: {error.strerror}. Run the command as the user it belongs to."
        ) from error
    mode = stat.S_IMODE(found.st_mode)
    if mode & _OTHERS:
        wanted = DIRECTORY_MODE if stat.S_ISDIR(found.st_mode) else FILE_MODE
        raise ConfigurationError(
            f"{path} may be used by others (mode {mode:04o}), so it is not used here. What it "
            f"holds may be known to them: if that matters, replace it; then chmod {wanted:o} "
            f"{path}"
        )
    if os.geteuid() not in (found.st_uid, 0):
        raise ConfigurationError(
            f"{path} belongs to another user (uid {found.st_uid}). Run the command as that user, "
            "or move it away."
        )


def write_private_file(path: str, content: str) -> None:
    """Replace a file as a whole; what was there stays until the new content is on the disk.

    The directory must be there. Raises ConfigurationError when the file cannot be written.
    """
    new = f"{path}.{os.urandom(4).hex()}"
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, path)
        except BaseException:
            os.unlink(new)
            raise
        directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from error


def _base(variable: str, below_home: str) -> str:
    base = os.environ.get(variable, "")
    # A relative one is ignored: https://specifications.freedesktop.org/basedir-spec
    if os.path.isabs(base):
        return base
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        raise ConfigurationError(
            f"There is no place for private files: neither {variable} nor HOME is an absolute "
            f"path. Set {variable}."
        )
    return os.path.join(home, below_home)


def _make_directories(path: str) -> None:
    if os.path.isdir(path):
        return
    _make_directories(os.path.dirname(path))
    try:
        os.mkdir(path, DIRECTORY_MODE)
    except FileExistsError:
        # Another command was quicker.
        if not os.path.isdir(path):
            raise
