"""The options that commands share, and the client that they make."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, TypeVar

from ..addresses import acting_conversation, daemon_address
from ..calls import Call
from ..models import Json
from ..sync_clients import Client
from ..tokens import kept_token_file
from .texts import safe

if TYPE_CHECKING:
    from ..async_clients import AsyncClient

T = TypeVar("T")

# Who types a command wants to know at once that the daemon is away; a restart takes less.
PATIENCE_S = 1.0


def add_caller(parser: ArgumentParser) -> None:
    """`--as` and `--url`."""
    parser.add_argument(
        "--as", dest="as_", metavar="ID", help="who acts (default: COORDROOMS_CONVERSATION)"
    )
    add_url(parser)


def add_url(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--url",
        metavar="URL",
        help="where the daemon is: unix:/path or http://host:port (default: COORDROOMS_URL, "
        "else its usual socket)",
    )


def add_json(parser: ArgumentParser, *, per_line: bool = False) -> None:
    what = "one JSON document per event and line" if per_line else "the daemon's answer as JSON"
    parser.add_argument("--json", action="store_true", help=f"print {what}")


def add_room(parser: ArgumentParser) -> None:
    parser.add_argument("room", metavar="ROOM", help="a room's name, slug or id, or @active")


def connect(arguments: Namespace) -> Client:
    """The client that a command's options ask for."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client = Client(
            arguments.as_,
            url=arguments.url,
            token_file=token_file(arguments),
            patience_s=PATIENCE_S,
        )
    for warning in caught:
        print(f"coordrooms: warning: {safe(str(warning.message))}", file=sys.stderr)
    return client


def connect_async(arguments: Namespace, as_: str | None, patience_s: float) -> AsyncClient:
    """An asynchronous client with the same options, for a command that has used `connect`."""
    from ..async_clients import AsyncClient

    with warnings.catch_warnings():
        # What there is to warn of has been said.
        warnings.simplefilter("ignore")
        return AsyncClient(
            as_, url=arguments.url, token_file=token_file(arguments), patience_s=patience_s
        )


def token_file(arguments: Namespace) -> str | None:
    """The file of the token that `coordrooms me` kept for who acts, if there is one.

    What COORDROOMS_TOKEN_FILE names comes before it.
    """
    if named := os.environ.get("COORDROOMS_TOKEN_FILE"):
        return named
    return kept_token_file(daemon_address(arguments.url), acting_conversation(arguments.as_))


def ask(client: Client, call: Call[T]) -> tuple[T, Json]:
    """What a call answers, as a value and as the document it came as."""
    document = client.document(call)
    return client.session.parsed(call, document), document


def whole_number(text: str) -> int:
    """An argument that is 0, 1, 2 …"""
    if not (text.isascii() and text.isdecimal()):
        raise ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return int(text)


def seconds(text: str) -> float:
    """An argument that is a length of time, 0 or more."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value
