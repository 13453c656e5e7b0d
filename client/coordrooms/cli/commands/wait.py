"""`coordrooms wait`"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace

from ...models import Json
from ...news import Wait
from ...operations.waits import DEFAULT_WAIT_S, LONGEST_WAIT_S, closing_pause, confirm, wait
from ...sync_clients import Client
from ..clients import add_caller, add_json, add_room, ask, connect, seconds, whole_number
from ..events import event_lines
from ..failures import DONE
from ..outputs import Output

HELP = "sleep until somebody else does something in a room"


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    parser.add_argument(
        "--after",
        type=whole_number,
        metavar="N",
        help="begin after event N; without it a wait begins where the last one ended",
    )
    parser.add_argument(
        "--generation",
        metavar="G",
        help="of the database that N is from, as --json shows it: another one is refused",
    )
    parser.add_argument(
        "--wake-on",
        action="append",
        metavar="K,…",
        help="message (the default), status, reaction, claim, member, expiry, answer:ID, free:KEY",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=DEFAULT_WAIT_S,
        metavar="S",
        help=f"give up after so many seconds, as many as you like (default: {DEFAULT_WAIT_S:g})",
    )
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        woken, document = _wait(client, arguments)
        _show(output, arguments, woken, document)
        if arguments.after is None:
            # Only now: whoever is killed before this is shown the same again.
            ask(client, confirm({woken.room: woken.next_after_seq}))
    return DONE


def _show(output: Output, arguments: Namespace, woken: Wait, document: Json) -> None:
    if output.as_json:
        output.document(document)
        return
    if woken.retention_gap is not None:
        output.line(event_lines(woken.retention_gap, output.style))
    for event in woken.events:
        output.line(event_lines(event, output.style))
    if woken.reason == "timeout":
        output.aside(f"Nothing to wake on came within {arguments.timeout:g} s.")
    elif woken.reason == "event" and not woken.woken_by:
        output.aside("What was waited for is free.")
    more = ", and there is more" if woken.has_more else ""
    output.aside(f"Go on with --after {woken.next_after_seq}{more}.")


def _wait(client: Client, arguments: Namespace) -> tuple[Wait, Json]:
    """The answer of the last of as many waits as the time takes, through restarts.

    All begin after the same number, so the last answer has everything.
    """
    started = time.monotonic()
    generation: str | None = arguments.generation
    # A glance first: whether there is a daemon should show at once, and not after a restart's time.
    wait_s, patience_s = 0.0, None
    while True:
        call = wait(
            arguments.room,
            arguments.after,
            wake_on=arguments.wake_on or "message",
            timeout_s=wait_s,
            generation=generation,
        )
        woken, document = ask(client, call._replace(patience_s=patience_s))
        # A daemon that comes back with an older database gives the same numbers to other events.
        generation = woken.generation
        left_s = arguments.timeout - (time.monotonic() - started)
        if woken.reason == "event" or left_s <= 0:
            return woken, document
        if woken.reason == "closing":
            time.sleep(closing_pause().seconds)
        wait_s, patience_s = min(left_s, LONGEST_WAIT_S), left_s
