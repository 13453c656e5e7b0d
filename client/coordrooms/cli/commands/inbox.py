"""`coordrooms inbox`"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...errors import DaemonUnreachableError
from ...inbox.acknowledgements import refresh
from ...inbox.stores import Inbox
from ...refusals import RefusedError
from ...sync_clients import Client
from ..clients import add_caller, add_json, connect
from ..failures import DONE
from ..inboxes import acting, entry_lines, item_document, open_inbox
from ..outputs import Output
from ..texts import safe

HELP = "show what was said to you in conversations and waits for an answer"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="what was dealt with, too")
    add_caller(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    with connect(arguments) as client:
        inbox = open_inbox(client, acting(client))
        try:
            _bring_up_to_date(client, inbox, output)
            contents = inbox.contents(open_only=not arguments.all)
        finally:
            inbox.close()
    if output.as_json:
        output.document(
            {
                "messages": [item_document(entry) for entry in contents.entries],
                "retention_gaps": [item_document(gap) for gap in contents.gaps],
            }
        )
        return DONE
    told = {entry.conversation for entry in contents.entries}
    for gap in contents.gaps:
        if arguments.all or gap.conversation in told:
            output.line(entry_lines(gap, output.style))
    for entry in contents.entries:
        output.line(entry_lines(entry, output.style))
    if any(entry.is_open for entry in contents.entries):
        output.aside("Answer one with `coordrooms reply CONVERSATION/NUMBER BODY`.")
    elif not contents.is_empty:
        output.aside("Everything is dealt with" + ("." if arguments.all else "; --all shows it."))
    else:
        output.aside("The inbox is empty. `coordrooms listen` fills it, as long as it runs.")
    return DONE


def _bring_up_to_date(client: Client, inbox: Inbox, output: Output) -> None:
    try:
        client.run(refresh(inbox))
    except (DaemonUnreachableError, RefusedError) as error:
        output.aside(f"What was acknowledged elsewhere may be missing. {safe(str(error))}")
