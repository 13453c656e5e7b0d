"""The command `coordrooms`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command of this process's arguments; returns the exit code."""
    arguments = sys.argv[1:]
    # Hosts start this one for every agent session, so it loads nothing that it does not need.
    if arguments[:1] == ["mcp"]:
        from .relay import main as relay

        return relay(arguments[1:])
    from .cli import main as command

    return command(arguments)


if __name__ == "__main__":
    sys.exit(main())
