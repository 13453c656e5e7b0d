"""`coordrooms reply`"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from ...inbox.replies import Answering
from ...operations.rooms import me
from ..clients import add_caller, add_json, connect, whole_number
from ..failures import DONE, WrongUsageError
from ..inboxes import open_inbox
from ..outputs import Output

HELP = "answer a message of a conversation once, and acknowledge it"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "message",
        metavar="CONVERSATION/NUMBER",
        type=_message,
        help="the message that is answered, as `coordrooms inbox` shows it",
    )
    parser.add_argument("body", metavar="BODY", help="the answer; - reads standard input")
    parser.add_argument(
        "--kind",
        metavar="KIND",
        help="note, progress, question or result (default: result for a question, else note)",
    )
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    conversation, seq = arguments.message
    body = _body(arguments.body)
    with connect(arguments) as client:
        whoami = client.run(me())
        inbox = open_inbox(client, whoami.participant.conversation_id)
        try:
            answering = Answering(inbox, whoami, conversation, seq, body, arguments.kind)
            replied = client.run(answering.run())
        finally:
            inbox.close()
    how = "Answered before" if replied.was_there else "Answered"
    document = {"conversation": conversation, "reply_to": seq, **replied._asdict()}
    output.answer(document, f"{how}, with {replied.seq}; acknowledged.")
    return DONE


def _message(text: str) -> tuple[str, int]:
    conversation, slash, number = text.rpartition("/")
    if not (slash and conversation):
        raise ArgumentTypeError(f"{text!r} is not of the form CONVERSATION/NUMBER")
    return conversation, whole_number(number)


def _body(argument: str) -> str:
    try:
        data = sys.stdin.buffer.read() if argument == "-" else argument.encode()
        return data.decode()
    except UnicodeError as error:
        raise WrongUsageError(f"The answer is not UTF-8: {error}.") from error
