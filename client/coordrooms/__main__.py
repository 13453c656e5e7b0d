"""The command `coordrooms`."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the command of this process's arguments; returns the exit code."""
    _leave_no_core()
    arguments = sys.argv[1:]
    # A hook whose output nobody takes has delivered nothing, and sees that by itself.
    if arguments[:1] != ["hook"]:
        _open_what_is_closed()
    # Hosts start the relay for every agent session and a hook at every tool call, so these load
    # nothing that they do not need.
    if arguments[:1] == ["mcp"]:
        from .relay import main as relay

        return relay(arguments[1:])
    if arguments[:1] == ["hook"] and not {"-h", "--help"}.intersection(arguments):
        from .hooks import main as hook

        code = hook(arguments[1:])
        # All is written. Taking the interpreter down in order is a sixth of what a hook takes.
        os._exit(code)
    try:
        from .cli import main as command

        return command(arguments)
    except KeyboardInterrupt:  # before the command began
        return 130


def _leave_no_core() -> None:
    """An image of this process's memory would hold its token."""
    try:
        import resource
    except ImportError:  # Windows makes no such images
        return
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))


def _open_what_is_closed() -> None:
    """Give this process the standard streams that its caller closed: empty, and read by nobody.

    Else the next thing to be opened, the connection to the daemon perhaps, would be in their place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


if __name__ == "__main__":
    sys.exit(main())
