"""`coordrooms status`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...operations.signals import clear_status, set_status
from ..clients import add_caller, add_json, add_room, ask, connect, whole_number
from ..failures import DONE, WrongUsageError
from ..outputs import Output
from ..texts import clock_time, safe

HELP = "show everyone in a room what you are doing, for a time"


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    parser.add_argument("text", metavar="TEXT", nargs="?", help="one line, up to 120 characters")
    parser.add_argument(
        "--for",
        dest="expires_in_s",
        type=whole_number,
        metavar="SECONDS",
        help="how long it stands, 1 to 3600 (default: 300)",
    )
    parser.add_argument("--clear", action="store_true", help="take the status away instead")
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    if arguments.clear == (arguments.text is not None):
        raise WrongUsageError("Give either the TEXT of the status or --clear.")
    if arguments.clear and arguments.expires_in_s is not None:
        raise WrongUsageError("--for belongs to a TEXT, not to --clear.")
    if arguments.clear:
        call = clear_status(arguments.room)
    else:
        call = set_status(arguments.room, arguments.text, expires_in_s=arguments.expires_in_s)
    with connect(arguments) as client:
        change, document = ask(client, call)
    text = "No status is set."
    if change.status is not None:
        text = f"{safe(change.status.status)!r} until {clock_time(change.status.expires_at)}."
    output.answer(document, text)
    return DONE
