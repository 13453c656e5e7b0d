"""`coordrooms rooms`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...models import RoomInfo
from ...operations.rooms import room_list
from ..clients import add_caller, add_json, connect
from ..failures import DONE
from ..outputs import Output
from ..texts import clock_time, safe

HELP = "list the rooms that have active members"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="rooms that everybody left, too")
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        document = client.run(room_list("all" if arguments.all else "active"))
    rooms = [RoomInfo.from_json(row) for row in document["rooms"]]
    if rooms or output.as_json:
        heads = ["SLUG", "ACTIVE", "EVENTS", "CREATED", "NAME"]
        output.answer(document, output.table(heads, list(map(_row, rooms))))
    else:
        output.aside("No rooms. `coordrooms join NAME --create --as ID` makes one.")
    return DONE


def _row(room: RoomInfo) -> list[str]:
    return [
        safe(room.ref),
        str(room.active_members),
        str(room.latest_seq),
        clock_time(room.created_at),
        safe(room.name or ""),
    ]
