"""`coordrooms tail`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...events import Event, HistoryRestored, Message, RetentionGap, event
from ...follows import FOLLOW_PATIENCE_S
from ...models import Json
from ...operations.messages import events
from ...operations.rooms import overview
from ...streams import EventStream
from ...sync_clients import Client
from ..clients import add_caller, add_json, add_room, ask, connect, whole_number
from ..events import event_lines
from ..failures import DONE
from ..outputs import Output

HELP = "show the last messages of a room, and with --follow those that come"

# The most that the daemon gives at once.
PAGE = 1000

# An event, and the JSON object it came as.
Line = tuple[Event, Json]


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    parser.add_argument(
        "-n", type=whole_number, default=20, metavar="N", help="how many (default: 20)"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what comes")
    parser.add_argument(
        "--events", action="store_true", help="joins, statuses, reactions and claims too"
    )
    add_caller(parser)
    add_json(parser, per_line=True)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        latest_seq = _show_last(client, arguments, output)
        try:
            while arguments.follow:
                _follow(client, arguments, output, latest_seq)
                latest_seq = _show_last(client, arguments, output)
        except KeyboardInterrupt:
            # Nothing else ends it.
            return DONE
    return DONE


def _show_last(client: Client, arguments: Namespace, output: Output) -> int:
    """Show what there is, as far as it was asked for; the number up to which that goes."""
    room, _ = ask(client, overview(arguments.room))
    for line in _last(client, arguments, room.room.latest_seq):
        _show(line, output)
    return room.room.latest_seq


def _last(client: Client, arguments: Namespace, latest_seq: int) -> list[Line]:
    """The last `-n` events that were asked for, up to `latest_seq`."""
    reach = max(1, arguments.n)
    while arguments.n:
        begin = max(0, latest_seq - reach)
        lines = _between(client, arguments, begin, latest_seq)
        if begin == 0 or len(lines) >= arguments.n:
            return lines[-arguments.n :]
        # Not all events are messages, so look further back.
        reach *= 4
    return []


def _between(client: Client, arguments: Namespace, begin: int, end: int) -> list[Line]:
    lines: list[Line] = []
    while begin < end:
        log, document = ask(client, events(arguments.room, begin, limit=min(PAGE, end - begin)))
        lines += [
            (happened, data)
            for happened, data in zip(log.events, document["events"], strict=True)
            if happened.seq <= end and _wanted(happened, arguments)
        ]
        if not log.has_more:
            break
        begin = log.next_after_seq
    return lines


def _follow(client: Client, arguments: Namespace, output: Output, after_seq: int) -> None:
    """Show what comes, until the daemon comes back with an older database."""
    stream = EventStream(
        client.session,
        arguments.room,
        after_seq,
        FOLLOW_PATIENCE_S,
        lambda data: (event(data), data),
    )
    try:
        while True:
            for item in client.run(stream.turn()):
                if isinstance(item, HistoryRestored):
                    restored = {"code": "generation_changed", "generation": item.generation}
                    output.warn(
                        event_lines(item, output.style),
                        {**restored, "latest_seq": item.latest_seq},
                    )
                    return
                if isinstance(item, RetentionGap):
                    output.aside(event_lines(item, output.style))
                elif _wanted(item[0], arguments):
                    _show(item, output)
    finally:
        stream.close()


def _wanted(happened: Event, arguments: Namespace) -> bool:
    return bool(arguments.events) or isinstance(happened, Message)


def _show(line: Line, output: Output) -> None:
    happened, data = line
    output.answer(data, event_lines(happened, output.style))
