"""The tokens that `coordrooms me` keeps: one file for each daemon and each participant.

A token is kept under the address of the daemon that gave it, so it is never shown to another one.
"""

from __future__ import annotations

import os

from .addresses import Address
from .errors import ConfigurationError
from .private_files import (
    config_directory,
    file_name,
    make_private_directory,
    refuse_open_to_others,
    write_private_file,
)


def token_path(address: Address, name: str) -> str:
    """Where the token of the participant `name` of that daemon is kept, if there is one."""
    return os.path.join(_directory(address), file_name(name))


def kept_token_file(address: Address, conversation: str | None) -> str | None:
    """The file of the token with which `conversation` (a name, or `<name>/x`) acts.

    None when there is none. Raises ConfigurationError when others may read it.
    """
    if conversation is None:
        return None
    try:
        path = token_path(address, conversation.partition("/")[0])
    except ConfigurationError:
        # Without a home directory none was ever kept.
        return None
    if not os.path.lexists(path):
        return None
    refuse_open_to_others(os.path.dirname(path))
    refuse_open_to_others(path)
    return path


def kept_token_files(address: Address) -> list[str]:
    """The files of all tokens that are kept for that daemon. Raises as above."""
    try:
        directory = _directory(address)
        names = sorted(os.listdir(directory))
    except (ConfigurationError, OSError):
        return []
    refuse_open_to_others(directory)
    files = [os.path.join(directory, name) for name in names]
    for file in files:
        refuse_open_to_others(file)
    return files


def keep_token(address: Address, name: str, token: str) -> str:
    """Write a token, in place of an earlier one; the path of its file."""
    path = token_path(address, name)
    write_private_file(path, f"{token}\n")
    return path


def make_room_for_tokens(address: Address) -> None:
    """Make the directory of that daemon's tokens. Raises ConfigurationError.

    For before a token is asked for: one that cannot be kept would be lost.
    """
    make_private_directory(_directory(address))


def _directory(address: Address) -> str:
    return config_directory("tokens", file_name(str(address)))
