"""`coordrooms hook EVENT --host HOST`: hands an agent what is unread, between its steps.

A host runs it at every tool call, so it starts lean (what is imported where is tested), and it
never makes its host fail: whatever goes wrong ends with 0, nothing on standard output and one line
in the log.

    inputs      what the host says of its session, and who that is
    daemons     two requests over one connection
    contexts    the texts that a model reads
    firings     one hook from beginning to end
    traces      what doctor sees of it: the last firing of each session, and the log
    wakers      the background half: waits while the session is idle, and wakes it
"""

from __future__ import annotations

import os
import sys

USAGE = "usage: coordrooms hook EVENT --host HOST [--url URL] (a host runs it, with JSON on stdin)"


def main(arguments: list[str]) -> int:
    """The command `coordrooms hook`; `arguments` are those behind it. Returns the exit code."""
    # Not `from .. import hosts`: the package would look for that name in all of the library first.
    from ..hosts import NAMES, load

    options = _options(arguments)
    host = load(options.get("--host", ""))
    watched = options.get("--watch", "0")
    if host is None or not options.get("EVENT") or not watched.isdecimal():
        sys.stderr.write(f"{USAGE}\nhosts: {' '.join(NAMES)}\n")
        return 2
    if not _is_heard():
        return 0
    from .firings import fire

    return fire(host, options)


def _is_heard() -> bool:
    """Whether there is somewhere to print to: else the next file to be opened would be that."""
    try:
        os.fstat(1)
        os.fstat(2)
    except OSError:
        return False
    return True


def _options(arguments: list[str]) -> dict[str, str]:
    """The words behind `hook`; empty when they cannot be understood."""
    # argparse would take a tenth of the time there is.
    options: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if not word.startswith("-") and "EVENT" not in options:
            options["EVENT"] = word
        elif name in ("--host", "--url", "--session", "--watch"):
            options[name] = value if equals else next(words, "")
        else:
            return {}
    return options
