"""`coordrooms join`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...answers import Joined
from ...operations.rooms import join, joined_or_created
from ..clients import add_caller, add_json, add_room, connect
from ..failures import DONE
from ..outputs import Output
from ..texts import safe

HELP = "join a room; with --create make it if it is not there"


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    parser.add_argument("--create", action="store_true", help="make the room if there is none")
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        if arguments.create:
            document = client.run(joined_or_created(arguments.room))
        else:
            document = client.document(join(arguments.room))
    joined = Joined.from_json(document)
    output.answer(
        document,
        f"{safe(joined.membership.conversation_id)} is in {safe(joined.room.ref)}, "
        f"event {joined.next_after_seq} of {joined.room.latest_seq}.",
    )
    return DONE
