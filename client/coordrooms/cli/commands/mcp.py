"""`coordrooms mcp`: `coordrooms.__main__` starts it without coming here; this is for the help."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, Namespace

from ...relay import main
from ..outputs import Output

HELP = "serve MCP on the standard streams, for the host of an agent session"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("rest", nargs=REMAINDER)


def run(arguments: Namespace, output: Output) -> int:
    return main(arguments.rest)
