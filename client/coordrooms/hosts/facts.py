"""What is particular about a host, as values.

Hooks import this at every tool call, so it needs nothing, not even `typing`.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Json = dict[str, Any]

# The moments of a session in which a hook may run, in our words.
SESSION = "session-start"
SUBAGENT = "subagent-start"
WORK = "work"  # a prompt was submitted, a tool was used: the model is about to read
STOP = "stop"  # the turn is about to end
WAKE = "wake"  # in the background while the session is idle

# How a session is woken when it is idle: it is not, and hears at its next step or end of turn; its
# host runs the waker and wakes the model when that ends with 2; the waker runs apart, and runs a
# command of the host; a plugin runs the waker and reads what it prints.
NOT_WOKEN, REWAKEN, QUEUED, PLUGGED = "not", "rewaken", "queued", "plugged"

# Claude Code cuts at 10,000 characters, Codex at about as much. No host takes much less.
CONTEXT_LIMIT = 10_000


class Event:
    """An event of a host: `name` is the host's own, `answer` makes its output from a text."""

    __slots__ = ("answer", "moment", "name")

    def __init__(self, name: str, moment: str, answer: Callable[[str], Json]) -> None:
        self.name = name
        self.moment = moment
        self.answer = answer


class Place:
    """Where something is to be installed: for a user, or in the project at `root`."""

    __slots__ = ("_environment", "_home", "root")

    def __init__(self, root: str | None, home: str, environment: Mapping[str, str]) -> None:
        self.root = root
        self._home = home
        self._environment = environment

    def home(self, *parts: str) -> str:
        return os.path.join(self._home, *parts)

    def folder(self, variable: str, *usual: str) -> str:
        """The host's own folder of a user: what `variable` says, else the usual one at home."""
        return self._environment.get(variable) or self.home(*usual)


class Member:
    """A member of a JSON document, found along `path`; `value` is the whole of it."""

    __slots__ = ("file", "path", "value")

    def __init__(self, file: str, path: tuple[str, ...], value: Any) -> None:
        self.file = file
        self.path = path
        self.value = value


class Item(Member):
    """One of the items of the array that is found along `path`: a hook."""

    __slots__ = ()


class Needed(Member):
    """A member that a document cannot do without, and that is nobody's: not taken back."""

    __slots__ = ()


class Table:
    """A TOML table of the dotted `name`, with plain values."""

    __slots__ = ("file", "name", "value")

    def __init__(self, file: str, name: str, value: Json) -> None:
        self.file = file
        self.name = name
        self.value = value


class Whole:
    """A file that is all ours: one of `coordrooms/assets`, with @PROGRAM@ filled in."""

    __slots__ = ("asset", "file")

    def __init__(self, file: str, asset: str) -> None:
        self.file = file
        self.asset = asset


class Host:
    """One host. `session_keys` name the session in what its hooks read.

    `attended(environment)` tells a hook whether somebody may come back to the session: one that
    only answers a prompt is not woken.
    `edits(place, program)` are the pieces of an installation, `program` being the command's words.
    `waker` is how an idle session is woken. `notes` tell a person what is left to do.
    `trusted(hooks, config)` tells from the host's configuration whether its user has allowed the
    hooks in a file; None where nobody is asked.
    `shows_errors` is set where a hook's standard error comes before the user as a message.
    """

    __slots__ = (
        "attended",
        "edits",
        "events",
        "name",
        "notes",
        "program",
        "session_keys",
        "shows_errors",
        "title",
        "trusted",
        "waker",
    )

    def __init__(
        self,
        *,
        name: str,
        title: str,
        program: str,
        session_keys: tuple[str, ...],
        events: tuple[Event, ...],
        waker: str,
        edits: Callable[[Place, list[str]], list[Edit]],
        attended: Callable[[Mapping[str, str]], bool] = lambda environment: True,
        trusted: Callable[[str, Json], bool] | None = None,
        notes: str = "",
        shows_errors: bool = False,
    ) -> None:
        self.name = name
        self.title = title
        self.program = program
        self.session_keys = session_keys
        self.events = events
        self.waker = waker
        self.edits = edits
        self.attended = attended
        self.trusted = trusted
        self.notes = notes
        self.shows_errors = shows_errors

    @property
    def wake(self) -> str:
        """What others may count on: `push` while it is idle, too, or `hook`, between its steps."""
        return "hook" if self.waker == NOT_WOKEN else "push"

    def event(self, name: str) -> Event | None:
        """The event that `name` means: the host's own name, or ours of its moment."""
        wanted = _folded(name)
        for event in self.events:
            if wanted in (_folded(event.name), _folded(event.moment)):
                return event
        return None


Edit = Member | Table | Whole


def hook_line(program: list[str], event: str, host: str) -> str:
    """The shell's line for a hook."""
    from shlex import join

    return join([*program, "hook", event, "--host", host])


def server(program: list[str]) -> Json:
    """A stdio server as most hosts register it."""
    return {"command": program[0], "args": [*program[1:], "mcp"]}


def context(name: str) -> Callable[[str], Json]:
    """The output that Claude Code has made common, for its event of that name."""

    def answer(text: str) -> Json:
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}

    return answer


def block(text: str) -> Json:
    """What keeps a turn from ending."""
    return {"decision": "block", "reason": text}


def _folded(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()
