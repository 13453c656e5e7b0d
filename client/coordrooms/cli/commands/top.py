"""`coordrooms top`"""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from ...clocks import seconds
from ...errors import CoordroomsError, DaemonUnreachableError
from ...expositions import metrics, parsed
from ...operations.rooms import room_list
from ...refusals import RefusedError
from ...sync_clients import Client
from ..boards import board
from ..clients import add_caller, add_json, connect
from ..failures import DONE
from ..keyboards import keyboard
from ..live_tables import ENTER, HOME, LEAVE
from ..outputs import Output
from ..texts import cut, safe
from ..vitals import Look, vitals

HELP = "show what the daemon is doing: live on a terminal, else once"

# A look that takes longer says that the daemon is away; a busy one answers within milliseconds.
LOOK_WITHIN_S = 5.0


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="once, on a terminal too")
    parser.add_argument(
        "--interval",
        type=_interval,
        default=2.0,
        metavar="S",
        help="seconds that each picture is about (default: 2)",
    )
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        # A first look that is not forgiving: a wrong address shows at once.
        first = _look(client)
        if output.on_terminal and not (output.as_json or arguments.once):
            return _watch(client, first, arguments.interval, output)
        with keyboard() as keys:
            keys.pressed(arguments.interval)
        found = vitals(first, _look(client))
    output.answer(found, "\n".join(board(found, output.style)))
    return DONE


def _watch(client: Client, first: Look, interval_s: float, output: Output) -> int:
    """Draw it again and again, through restarts of the daemon. q, Esc or Ctrl-C leaves."""
    last, lines = first, ["looking …"]
    sys.stdout.write(ENTER)
    try:
        with keyboard() as keys:
            _draw(lines, output)
            while not _leaves(keys.pressed(interval_s)):
                try:
                    look = _look(client)
                except (DaemonUnreachableError, RefusedError) as error:
                    columns, _ = shutil.get_terminal_size()
                    problem = output.style.bad(cut(safe(str(error)), columns))
                    _draw([problem, "", *lines], output)
                    continue
                lines = board(vitals(last, look), output.style)
                last = look
                _draw(lines, output)
    except KeyboardInterrupt:
        return DONE
    finally:
        sys.stdout.write(LEAVE)
        output.line("\n".join(lines))
    return DONE


def _look(client: Client) -> Look:
    at = seconds()
    samples = parsed(client.text(metrics(LOOK_WITHIN_S)))
    try:
        rooms = client.run(room_list("active"))["rooms"]
    except (CoordroomsError, KeyError):
        # Its numbers are worth seeing all the more while the database is away.
        rooms = None
    return Look(at, samples, rooms)


def _draw(lines: list[str], output: Output) -> None:
    columns, rows = shutil.get_terminal_size()
    below = output.style.dim("q leaves")
    # Colours take no columns, and a line without any is cut where the terminal ends.
    shown = [line if "\x1b" in line else cut(line, columns) for line in lines[: rows - 2]]
    sys.stdout.write(HOME + "\n".join([*shown, below]))
    sys.stdout.flush()


def _leaves(keys: str) -> bool:
    # Esc alone: an arrow begins with it.
    return keys == "\x1b" or "q" in keys.lower()


def _interval(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.1 <= value <= 3600:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds from 0.1 to 3600")
    return value
