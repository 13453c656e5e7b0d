"""Where a daemon keeps its state, its sockets and its configuration when nobody says so.

These places depend on the effective uid and the environment. Clients look for the socket in the
same ones, so a change here is one in the client's `addresses.py` too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SYSTEM_STATE = Path("/var/lib/coordroomsd")
SYSTEM_SOCKET = Path("/run/coordroomsd/coordroomsd.sock")
SYSTEM_CONFIG = Path("/etc/coordroomsd/config.toml")

# sun_path has 108 bytes on Linux and 104 on macOS, and ends in a NUL.
SOCKET_PATH_LIMIT = 107 if sys.platform == "linux" else 103


class NoHomeError(Exception):
    """The account has neither the XDG variables nor a home directory."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who runs the daemon; by default this process."""

    uid: int = field(default_factory=os.geteuid)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def is_system(self) -> bool:
        """Whether this is root or a system service.

        systemd gives a user's service a STATE_DIRECTORY as well, below that user's home.
        """
        state = self.service_directory("STATE_DIRECTORY")
        return self.uid == 0 or (state is not None and state.is_relative_to("/var/lib"))

    def service_directory(self, variable: str) -> Path | None:
        """The first directory that systemd names in `variable` (systemd.exec(5))."""
        named = self.environment.get(variable, "").partition(":")[0]
        return Path(named) if named else None

    def credential(self, name: str) -> str | None:
        """What the service manager hands over under that name (systemd.exec(5), LoadCredential=).

        None when that is nothing. Raises OSError or UnicodeDecodeError.
        """
        folder = self.environment.get("CREDENTIALS_DIRECTORY", "")
        try:
            text = (Path(folder) / name).read_text("utf-8").strip() if folder else ""
        except FileNotFoundError:
            return None
        return text or None

    def home_directory(self, variable: str, below_home: str) -> Path:
        """The XDG base directory `variable`; a relative one is ignored, as its specification asks.

        :raises NoHomeError: the variable is not set and there is no home directory.
        """
        named = self.environment.get(variable, "")
        if Path(named).is_absolute():
            return Path(named)
        home = self.environment.get("HOME", "")
        if not Path(home).is_absolute():
            raise NoHomeError(f"neither {variable} nor HOME names an absolute path")
        return Path(home) / below_home

    def state_dir(self) -> Path:
        """:raises NoHomeError: see `home_directory`."""
        given = self.service_directory("STATE_DIRECTORY")
        if given is not None:
            return given
        if self.uid == 0:
            return SYSTEM_STATE
        return self.home_directory("XDG_STATE_HOME", ".local/state") / "coordroomsd"

    def socket(self, state_dir: Path) -> Path:
        if self.is_system:
            return SYSTEM_SOCKET
        runtime = Path(self.environment.get("XDG_RUNTIME_DIR", ""))
        # `su` hands on the variable of another account, and there may be no /run/user at all.
        if runtime.is_absolute() and _owner(runtime) == self.uid:
            return runtime / "coordroomsd.sock"
        return state_dir / "coordroomsd.sock"

    def config_file(self) -> Path | None:
        """Where the configuration file is that is read without being named; it need not exist."""
        given = self.service_directory("CONFIGURATION_DIRECTORY")
        if given is not None:
            return given / "config.toml"
        if self.is_system:
            return SYSTEM_CONFIG
        try:
            return self.home_directory("XDG_CONFIG_HOME", ".config") / "coordroomsd" / "config.toml"
        except NoHomeError:
            return None


def mcp_socket_beside(socket: Path) -> Path:
    """The MCP socket that belongs to `socket`: `-mcp` before `.sock`."""
    name = socket.name.removesuffix(".sock")
    return socket.with_name(f"{name}-mcp{socket.name[len(name) :]}")


def _owner(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None
