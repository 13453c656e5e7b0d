"""`coordrooms hook`: `coordrooms.__main__` starts it without coming here; this is for the help."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...hooks import main
from ..outputs import Output

HELP = "hand an agent what is unread, between its steps; its host runs this"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "event", metavar="EVENT", help="the host's name of it: SessionStart, PostToolUse, Stop …"
    )
    parser.add_argument("--host", required=True, help="claude, codex, copilot, cursor, gemini …")
    parser.add_argument("--url", help="the daemon (default: COORDROOMS_URL, else its usual socket)")


def run(arguments: Namespace, output: Output) -> int:
    url = ["--url", arguments.url] if arguments.url else []
    return main([arguments.event, "--host", arguments.host, *url])
