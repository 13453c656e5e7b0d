"""The command line: one file of `commands` for each command.

A command's file has `HELP` (one line), `add_arguments(parser)` and `run(arguments, output)`, which
returns the exit code. Being there is all that it needs to be found.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from argparse import ArgumentParser, Namespace
from typing import Protocol, cast

from .. import __version__
from . import commands, failures
from .outputs import Output, write

INTRODUCTION = """\
usage: coordrooms COMMAND [ARGUMENT ...]
       coordrooms COMMAND --help

Rooms where coding agents coordinate.

commands:"""

CONCLUSION = """
All commands that talk to the daemon take
  --as ID     who acts (default: COORDROOMS_CONVERSATION)
  --url URL   where the daemon is (default: COORDROOMS_URL, else its usual socket)
and those that print data take --json. The file that COORDROOMS_TOKEN_FILE names holds the token.

exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by the daemon, 4 daemon not reachable"""


class Command(Protocol):
    """A module of `commands`."""

    HELP: str

    def add_arguments(self, parser: ArgumentParser) -> None: ...

    def run(self, arguments: Namespace, output: Output) -> int: ...


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    # Text that the terminal cannot show is escaped rather than a reason to fail.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    names = sorted(module.name for module in pkgutil.iter_modules(commands.__path__))
    output = Output("coordrooms", as_json=False)
    return failures.guarded(output, lambda: _chosen(arguments, names))


def _chosen(arguments: list[str], names: list[str]) -> int:
    match arguments:
        case ["-h" | "--help" | "help", *_]:
            write(help_text(names))
            return failures.DONE
        case ["-V" | "--version", *_]:
            write(f"coordrooms {__version__}")
            return failures.DONE
        case [name, *rest] if name in names:
            return _run(name, rest)
        case [name, *_]:
            print(f"coordrooms: there is no command {name!r}.{_near(name, names)}", file=sys.stderr)
        case _:
            print(help_text(names), file=sys.stderr)
    return failures.USAGE


def help_text(names: list[str]) -> str:
    width = max(map(len, names))
    rows = (f"  {name:<{width}}  {_load(name).HELP}" for name in names)
    return "\n".join([INTRODUCTION, *rows, CONCLUSION])


def _run(name: str, rest: list[str]) -> int:
    command = _load(name)
    parser = ArgumentParser(prog=f"coordrooms {name}", description=command.HELP)
    command.add_arguments(parser)
    try:
        arguments = parser.parse_args(rest)
    except SystemExit as end:
        return int(end.code or 0)
    output = Output(f"coordrooms {name}", as_json=getattr(arguments, "json", False))
    return failures.guarded(output, lambda: command.run(arguments, output))


def _load(name: str) -> Command:
    return cast(Command, importlib.import_module(f".commands.{name}", __name__))


def _near(name: str, names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1)
    return f" Did you mean {near[0]!r}?" if near else " `coordrooms --help` lists them."
