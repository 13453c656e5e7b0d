"""`coordrooms react`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...operations.signals import react, unreact
from ..clients import add_caller, add_json, add_room, ask, connect, whole_number
from ..failures import DONE
from ..outputs import Output
from ..texts import safe

HELP = "react to a message: ack, agree, decline, like, love, fire, ok"


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    parser.add_argument("message_id", type=whole_number, metavar="ID", help="the message's number")
    parser.add_argument(
        "reaction",
        metavar="REACTION",
        help="ack, agree, decline (on others' messages) or like, love, fire, ok",
    )
    parser.add_argument("--remove", action="store_true", help="take it back instead")
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    operation = unreact if arguments.remove else react
    with connect(arguments) as client:
        change, document = ask(
            client, operation(arguments.room, arguments.message_id, arguments.reaction)
        )
    held = ", ".join(f"{safe(name)} {count.total}" for name, count in change.counts.items())
    was = "" if change.changed else " (no change)"
    output.answer(document, f"Message {arguments.message_id}: {held or 'no reactions'}{was}.")
    return DONE
