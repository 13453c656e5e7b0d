"""`coordrooms say`"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from ...operations.messages import post
from ..clients import add_caller, add_json, add_room, ask, connect, whole_number
from ..failures import DONE
from ..outputs import Output
from ..texts import safe

HELP = "post a message to a room"


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    parser.add_argument("body", metavar="BODY", help="what to say; - reads standard input")
    parser.add_argument(
        "--kind",
        metavar="KIND",
        help="decision, warning, question, answer or status "
        "(default: answer with --reply-to, else status)",
    )
    parser.add_argument(
        "--reply-to", type=whole_number, metavar="ID", help="the question that this answers"
    )
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    kind = arguments.kind or ("status" if arguments.reply_to is None else "answer")
    body = sys.stdin.read() if arguments.body == "-" else arguments.body
    with connect(arguments) as client:
        call = post(arguments.room, body, kind, reply_to=arguments.reply_to)
        posted, document = ask(client, call)
    output.answer(document, f"Posted as {safe(kind)} {posted.message.id}.")
    return DONE
