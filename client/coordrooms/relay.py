"""`coordrooms mcp`: an MCP server on the standard streams that relays to the daemon.

There is one for each agent session, so it is small and starts at once: one thread, one poll loop,
and little of the standard library. (`asyncio`, `dataclasses` or `logging` would each cost as much
as all of it.) The tools live in the daemon, behind its MCP socket, or behind a URL
(`relay_http.py`). This end

* introduces itself and lists the tools, daemon or not (`relay_answers.py`);
* names the session in its first line to the daemon, and shakes hands for the host on each new
  connection (`relay_loop.py`);
* outlives the daemon: it connects again, repeats what can be repeated (`relay_calls.py`) and says
  of the rest that its outcome is unknown.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial

from .addresses import (
    Address,
    UnixAddress,
    acting_conversation,
    caller_headers,
    daemon_addresses,
    token,
)
from .errors import ConfigurationError
from .relay_answers import Message
from .relay_loop import Relay
from .relay_streams import Connection, Daemon, Host


def main(arguments: list[str]) -> int:
    """The command `coordrooms mcp`; `arguments` are those behind it. Returns the exit code."""
    options = _options(arguments)
    try:
        addresses = daemon_addresses(options.get("url"))
        conversation = acting_conversation(options.get("conversation"))
        connect = _connections(addresses, conversation)
        max_wait_s = options.get("max_wait")
        if max_wait_s is not None and not 1 <= max_wait_s <= 300:
            raise ConfigurationError("--max-wait is a number of seconds from 1 to 300.")
    except ConfigurationError as fault:
        sys.stderr.write(f"coordrooms mcp: {fault}\n")
        return 2
    if os.isatty(0):
        sys.stderr.write("coordrooms mcp: speaks MCP on its standard streams; hosts start it.\n")
    hello = {"coordrooms": 1, "conversation": conversation, "client_pid": os.getpid()}
    if max_wait_s is not None:
        hello["max_wait_s"] = max_wait_s
    try:
        places = [one.mcp if isinstance(one, UnixAddress) else one for one in addresses]
        Relay(Host(), connect, " or ".join(map(str, places)), hello).run()
    except KeyboardInterrupt:
        return 130
    return 0


def _connections(addresses: list[Address], conversation: str | None) -> Callable[[], Connection]:
    """What makes a connection to the first daemon that is there.

    Raises ConfigurationError for a token that cannot be used.
    """
    makers = [_connection(address, conversation) for address in addresses]

    def connect() -> Connection:
        for make in makers[:-1]:
            try:
                return make()
            except OSError:
                continue
        return makers[-1]()

    return connect


def _connection(address: Address, conversation: str | None) -> Callable[[], Connection]:
    if isinstance(address, UnixAddress):
        return partial(Daemon, address.mcp.path)
    # Sessions on the daemon's own host do without it, and without a token.
    from .relay_http import HttpDaemon

    return partial(HttpDaemon, address, caller_headers(conversation, token()))


def _options(arguments: list[str]) -> Message:
    if not arguments:
        return {}
    # Most hosts pass nothing, and this import would be a fifth of the start.
    import argparse

    parser = argparse.ArgumentParser(
        prog="coordrooms mcp",
        description="The MCP server of one agent session, on its standard streams.",
    )
    parser.add_argument(
        "--conversation",
        "--as",
        metavar="ID",
        help="the session's id, so that tools need no conversationId "
        "(default: COORDROOMS_CONVERSATION)",
    )
    parser.add_argument(
        "--url",
        help="the daemon: unix:/path/to.sock or http://host:port "
        "(default: COORDROOMS_URL, else its own place)",
    )
    parser.add_argument(
        "--max-wait",
        type=float,
        metavar="SECONDS",
        help="the longest that one wait may take with this host, if the daemon's guess is wrong",
    )
    return vars(parser.parse_args(arguments))
