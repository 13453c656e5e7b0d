"""`coordrooms release`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...operations.signals import release
from ..clients import add_caller, add_json, add_room, ask, connect
from ..failures import DONE
from ..outputs import Output
from ..texts import safe

HELP = "give a claim back"


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    parser.add_argument("key", metavar="KEY", help="what was claimed")
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        released, document = ask(client, release(arguments.room, arguments.key))
    key = repr(safe(arguments.key))
    output.answer(document, f"{key} is free." if released.released else f"{key} was free already.")
    return DONE
