"""`coordrooms listen`"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from typing import NoReturn

from ...errors import DaemonUnreachableError
from ...inbox.listeners import LOOK_EVERY_S, Listener
from ...outages import jittered
from ...refusals import InternalServerError, StoreUnavailableError
from ...sync_clients import Client
from ..clients import add_caller, add_json, connect
from ..failures import DONE
from ..inboxes import acting, entry_lines, item_document, open_inbox
from ..outputs import Output
from ..texts import safe

HELP = "store what is said to you in conversations in a private inbox, until interrupted"


def add_arguments(parser: ArgumentParser) -> None:
    add_caller(parser)
    add_json(parser, per_line=True)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        conversation = acting(client)
        inbox = open_inbox(client, conversation)
        try:
            listener = Listener(inbox, conversation)
            # That there is no daemon, or no right to listen, should show at once.
            has_more = _look(client, listener, output)
            output.aside(f"Listening. What comes is stored in {inbox.path}.")
            _listen(client, listener, output, has_more)
        except KeyboardInterrupt:
            # Nothing else ends it.
            return DONE
        finally:
            inbox.close()


def _listen(client: Client, listener: Listener, output: Output, has_more: bool) -> NoReturn:
    is_away = False
    while True:
        if not has_more:
            time.sleep(jittered(LOOK_EVERY_S))
        try:
            has_more = _look(client, listener, output)
        except (DaemonUnreachableError, StoreUnavailableError, InternalServerError) as error:
            if not is_away:
                output.aside(f"{safe(str(error))} Listening goes on when it is back.")
            is_away = True
        else:
            if is_away:
                output.aside("The daemon is back.")
            is_away = False


def _look(client: Client, listener: Listener, output: Output) -> bool:
    looked = client.run(listener.look())
    for item in looked.stored:
        output.answer(item_document(item), entry_lines(item, output.style))
    return looked.has_more
