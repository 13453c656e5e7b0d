"""`coordrooms members`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...operations.rooms import members
from ..clients import add_caller, add_json, add_room, ask, connect
from ..failures import DONE
from ..outputs import Output
from ..rosters import HEADS, roster

HELP = "show who is in a room: a live table on a terminal, else a list"


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    parser.add_argument("--once", action="store_true", help="a list, on a terminal too")
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    if output.on_terminal and not (output.as_json or arguments.once):
        from ..live_tables import watch

        return watch(arguments, output)
    with connect(arguments) as client:
        rows, document = ask(client, members(arguments.room))
    output.answer(document, output.table(HEADS, roster(rows, output.style)))
    return DONE
