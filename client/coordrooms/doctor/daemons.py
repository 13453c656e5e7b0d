"""The daemon: whether it answers, is of this version, and who may reach its socket."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from .. import __version__
from ..addresses import UnixAddress, daemon_address
from ..hooks.daemons import AwayError, Daemon, RefusedError
from .findings import Finding

# Nobody: what is asked here needs no participant.
_NOBODY = "doctor"


def daemon_findings(url: str | None) -> Iterator[Finding]:
    """Raises AwayError, after the line about it, when no daemon answers; ConfigurationError."""
    address = daemon_address(url)
    try:
        with Daemon(_NOBODY, url, wake="none") as daemon:
            version = daemon.get("/openapi.json", base="")["info"]["version"]
            yield Finding("daemon", True, f"answers at {address}")
            yield _version(version)
            yield _store(daemon)
    except (RefusedError, KeyError, TypeError):
        yield Finding(
            "daemon",
            False,
            f"what answers at {address} is no coordroomsd",
            "Set COORDROOMS_URL to the daemon's socket, unix:/path/to/coordroomsd.sock.",
        )
    except AwayError as fault:
        yield Finding(
            "daemon",
            False,
            str(fault),
            "Start it (coordroomsd serve), or set COORDROOMS_URL to where it is.",
        )
        raise
    if isinstance(address, UnixAddress):
        yield from _sockets(address)


def _version(version: str) -> Finding:
    if version == __version__:
        return Finding("version", True, f"daemon and client are both {version}")
    return Finding(
        "version",
        False,
        f"the daemon is {version}, and this client {__version__}",
        "Install the same version of coordroomsd and coordrooms, and restart the daemon.",
    )


def _store(daemon: Daemon) -> Finding:
    try:
        daemon.get("/readyz", base="")
    except RefusedError as refused:
        problem = f"the daemon is there, and not ready: {refused}"
        return Finding("database", False, problem, "Look at the daemon's log for the reason.")
    return Finding("database", True, "ready")


def _sockets(address: UnixAddress) -> Iterator[Finding]:
    for path in (address.path, address.mcp.path):
        try:
            mode = stat.S_IMODE(os.stat(path).st_mode)
        except OSError as fault:
            remedy = "Restart the daemon; it makes this socket beside its other one."
            yield Finding("socket", False, f"{path}: {fault.strerror}", remedy)
            continue
        if mode & stat.S_IWOTH:
            problem = f"every user of this machine may use {path} (mode {mode:04o})"
            yield Finding("socket", False, problem, f"chmod o-rwx {path}")
        else:
            yield Finding("socket", True, f"{path} has mode {mode:04o}")
