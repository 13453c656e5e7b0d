"""`coordrooms leave`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...operations.rooms import leave
from ..clients import add_caller, add_json, add_room, ask, connect
from ..failures import DONE
from ..outputs import Output
from ..texts import safe

HELP = "leave a room: claims are released, the status ends, the history stays"


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        left, document = ask(client, leave(arguments.room))
    output.answer(document, f"{safe(left.membership.conversation_id)} left {safe(left.room.ref)}.")
    return DONE
