"""`coordrooms claims`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...models import Claim
from ...operations.signals import claims
from ..clients import add_caller, add_json, add_room, ask, connect
from ..failures import DONE
from ..outputs import Output
from ..texts import clock_time, safe

HELP = "list what is claimed in a room now"


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        held, document = ask(client, claims(arguments.room))
    if held or output.as_json:
        heads = ["KEY", "HOLDER", "SINCE", "UNTIL", "FENCE"]
        output.answer(document, output.table(heads, list(map(_row, held))))
    else:
        output.aside("Nothing is claimed.")
    return DONE


def _row(claim: Claim) -> list[str]:
    return [
        safe(claim.key),
        safe(claim.holder.name),
        clock_time(claim.since),
        clock_time(claim.expires_at),
        str(claim.fence),
    ]
