"""`coordrooms say`"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from ...errors import DaemonUnreachableError
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
    parser.add_argument(
        "--key",
        metavar="KEY",
        help="1-255 visible characters; a repetition with the same one posts nothing new",
    )
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    kind = arguments.kind or ("status" if arguments.reply_to is None else "answer")
    body = sys.stdin.read() if arguments.body == "-" else arguments.body
    call = post(
        arguments.room, body, kind, reply_to=arguments.reply_to, idempotency_key=arguments.key
    )
    with connect(arguments) as client:
        try:
            posted, document = ask(client, call)
        except DaemonUnreachableError as error:
            raise _perhaps_posted(error) from error
    output.answer(document, f"Posted as {safe(kind)} {posted.message.id}.")
    return DONE


def _perhaps_posted(error: DaemonUnreachableError) -> DaemonUnreachableError:
    key = error.idempotency_key
    return DaemonUnreachableError(
        f"{error} If the connection broke, the message may be stored: `--key {key}` repeats it "
        "without saying it twice.",
        error.address,
        key,
    )
