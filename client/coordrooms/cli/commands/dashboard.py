"""`coordrooms dashboard`"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from ...addresses import Address, acting_conversation, daemon_address, token
from ...errors import ConfigurationError
from ...operations.pages import page_link
from ...private_files import make_private_directory, state_directory, write_private_file
from ...sessions import Session
from ...sync_connections import drive
from ...tokens import kept_token_files
from ..clients import PATIENCE_S, add_caller, add_json, token_file
from ..failures import DONE, WrongUsageError
from ..outputs import Output

HELP = "open the page that shows all rooms, and where you take part"

REDIRECTION = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>Rooms</title>
<meta http-equiv="refresh" content="0; url={url}">
<p><a href="{url}">Go to the rooms</a></p>
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--print", action="store_true", help="only print the link, and open no browser"
    )
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    address = daemon_address(arguments.url)
    file = token_file(arguments) or _only_token(address, arguments.as_)
    # The token says who it is.
    session = Session(address, None, token(file), patience_s=PATIENCE_S)
    try:
        link = drive(session.run(page_link()))
    finally:
        session.close()
    url = (link.origin or str(address)) + link.path
    document = {"url": url, "expires_at": link.expires_at.isoformat()}
    opens = not (arguments.print or output.as_json) and _has_screen() and _open(url)
    output.answer(document, _opened(url) if opens else url)
    return DONE


def _only_token(address: Address, as_: str | None) -> str:
    """The file of the one token that is kept for this daemon; who has one need not say who."""
    conversation = acting_conversation(as_)
    if conversation is not None:
        raise ConfigurationError(
            f"No token is kept for {conversation!r} here. The page is for people: enrol once with "
            "`coordrooms me NAME`, then run `coordrooms dashboard --as NAME`."
        )
    files = kept_token_files(address)
    if not files:
        raise ConfigurationError(
            "The daemon does not know you as a person yet. Run `coordrooms me NAME` once, then "
            "`coordrooms dashboard` again."
        )
    if len(files) > 1:
        names = ", ".join(os.path.basename(file) for file in files)
        raise WrongUsageError(f"Say who you are with --as NAME; tokens are kept for: {names}.")
    return files[0]


def _has_screen() -> bool:
    """Whether a browser can open a window; one that takes the terminal over is no help."""
    return sys.platform == "darwin" or any(
        os.environ.get(variable) for variable in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    )


def _open(url: str) -> bool:
    """By way of a file: other users of the host can read a browser's command line."""
    import webbrowser

    directory = state_directory()
    make_private_directory(directory)
    file = os.path.join(directory, "open-page.html")
    write_private_file(file, REDIRECTION.format(url=url))
    return webbrowser.open(f"file://{file}")


def _opened(url: str) -> str:
    return (
        f"Opening the page. If no browser shows it, this link works once, within a minute:\n{url}"
    )
