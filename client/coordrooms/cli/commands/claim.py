"""`coordrooms claim`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...operations.signals import DEFAULT_LEASE_S, take
from ..clients import add_caller, add_json, add_room, ask, connect, whole_number
from ..failures import DONE
from ..outputs import Output
from ..texts import clock_time, safe

HELP = "claim a piece of work, or renew your claim to it"


def add_arguments(parser: ArgumentParser) -> None:
    add_room(parser)
    parser.add_argument("key", metavar="KEY", help="the work's short name, like the-draft")
    parser.add_argument(
        "--lease",
        type=whole_number,
        default=DEFAULT_LEASE_S,
        metavar="SECONDS",
        help=f"how long, 60 to 86400 (default: {DEFAULT_LEASE_S})",
    )
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        claimed, document = ask(
            client, take(arguments.room, arguments.key, lease_s=arguments.lease)
        )
    claim = claimed.claim
    output.answer(
        document,
        f"{safe(claim.key)!r} is yours until {clock_time(claim.expires_at)} (fence {claim.fence}).",
    )
    return DONE
