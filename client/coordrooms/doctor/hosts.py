"""Each host that is set up: what is registered, what its user has to trust, and what has fired."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator

from ..errors import ConfigurationError
from ..hooks.traces import read_trace
from ..hosts import NAMES, load
from ..hosts.facts import Edit, Host, Item, Member, Needed, Place, Table, Whole
from ..install import ours, toml_tables
from ..install.documents import Document
from ..install.failures import InstallError
from ..install.plans import place
from ..models import Json
from ..private_files import state_directory
from .findings import Finding
from .servers import server_finding

# They do not matter to whether a piece is there.
_WORDS = ["coordrooms"]
# An outcome that begins so is no failure.
_GOOD_OUTCOMES = ("told", "handed over", "nothing unread")


def host_findings(only: str | None) -> Iterator[Finding]:
    """For one host, or for all; one that is not set up is no failure."""
    places = [("", place(None))]
    # At home, a project's files would be those of the user.
    if os.path.realpath(".") != os.path.realpath(os.path.expanduser("~")):
        places.append((" in this project", place(".")))
    for name in NAMES if only is None else (only,):
        host = load(name)
        assert host is not None, "the caller has looked"
        found = False
        for scope, where in places:
            for finding in _at(host, where, f"{host.name}{scope}"):
                found = True
                yield finding
        if found:
            yield _fired(host)
        elif only is not None:
            hint = f"not set up; `coordrooms install {host.name}` does it"
            yield Finding(host.name, None, hint)


def _at(host: Host, where: Place, subject: str) -> Iterator[Finding]:
    """Nothing where the host is not set up."""
    again = f"Run `coordrooms install {host.name}{_scope(where)}` again."
    try:
        pieces = [(edit, _registered(edit)) for edit in host.edits(where, _WORDS)]
    except InstallError as fault:
        yield Finding(subject, False, str(fault), "Mend the file; then look again.")
        return
    if not any(present for edit, present in pieces if not isinstance(edit, Needed)):
        return
    for what, kind in (("server", (Table,)), ("hooks", (Item,)), ("skill and files", (Whole,))):
        wanted = [
            (edit, present)
            for edit, present in pieces
            if isinstance(edit, kind) or (what == "server" and type(edit) is Member)
        ]
        missing = [_name(edit) for edit, present in wanted if not present]
        if missing:
            problem = f"{what} missing: {', '.join(missing)}"
            yield Finding(f"{subject} {what}", False, problem, again)
        elif wanted:
            files = ", ".join(sorted({edit.file for edit, _ in wanted}))
            yield Finding(f"{subject} {what}", True, f"registered in {files}")
    for edit, present in pieces:
        if isinstance(edit, Item) and present:
            yield from _runnable(f"{subject} command", present, again)
            break
    for edit, present in pieces:
        if present and (isinstance(edit, Table) or type(edit) is Member):
            yield server_finding(f"{subject} tools", _command(present))
    if host.trusted is not None:
        yield from _trusted(host, where, subject)


def _registered(edit: Edit) -> Json | None:
    """What is there of a piece; None when it is not there."""
    document = Document(edit.file)
    match edit:
        case Item():
            items = document.value_at(edit.path)
            found = [item for item in items or [] if ours.has_hook(item)]
            return found[0] if found else None
        case Table():
            if document.text is None:
                return None
            try:
                value = toml_tables.found(toml_tables.parsed(document.text), edit.name)
            except toml_tables.TomlError as fault:
                raise document.unreadable(fault) from fault
            return value if ours.is_server(value) else None
        case Whole():
            there = document.text is not None and "coordrooms" in document.text
            return {"size": len(document.text or "")} if there else None
        case Member():
            value = document.value_at(edit.path)
            return value if ours.is_server(value) else None


def _runnable(subject: str, hook: Json, again: str) -> Iterator[Finding]:
    [line, *_] = ours.command_lines(hook)
    program = shlex.split(line)[0]
    if shutil.which(program) is None:
        yield Finding(subject, False, f"{program} is not there, or not on the PATH", again)
    else:
        yield Finding(subject, True, f"hooks run {program}")


def _command(server: Json) -> list[str]:
    command = server["command"]
    words = command if isinstance(command, list) else [command, *server.get("args", [])]
    return [str(word) for word in words]


def _trusted(host: Host, where: Place, subject: str) -> Iterator[Finding]:
    """What was trusted is in the configuration of the user, also for a project's hooks."""
    assert host.trusted is not None
    [hooks] = {edit.file for edit in host.edits(where, _WORDS) if isinstance(edit, Item)}
    [config] = {edit.file for edit in host.edits(place(None), _WORDS) if isinstance(edit, Table)}
    if host.trusted(hooks, toml_tables.parsed(Document(config).text or "")):
        yield Finding(f"{subject} trust", True, f"{hooks} has its user's trust")
    elif not _traces(host):
        problem = f"nobody has trusted the hooks in {hooks}"
        yield Finding(f"{subject} trust", False, problem, host.notes)


def _fired(host: Host) -> Finding:
    """The last firing of any session."""
    traces = _traces(host)
    if not traces:
        problem = "no hook has fired yet"
        remedy = f"Start a session of {host.title}, write a prompt, and look again. {host.notes}"
        return Finding(f"{host.name} fired", False, problem, remedy.strip())
    last = max(traces, key=lambda trace: str(trace.get("at")))
    outcome = str(last.get("outcome"))
    text = f"{last.get('event')} at {last.get('at')} for {last.get('conversation')}: {outcome}"
    if outcome.startswith(_GOOD_OUTCOMES):
        return Finding(f"{host.name} fired", True, text)
    log = state_directory("hooks.log")
    return Finding(f"{host.name} fired", False, text, f"{log} has the last failures.")


def _traces(host: Host) -> list[Json]:
    try:
        folder = state_directory("sessions")
        names = os.listdir(folder)
    except (OSError, ConfigurationError):
        return []
    traces = [read_trace(os.path.join(folder, name)) for name in names]
    return [trace for trace in traces if trace.get("host") == host.name]


def _name(edit: Edit) -> str:
    match edit:
        case Member():
            return edit.path[-1]
        case Table():
            return edit.name
        case _:
            return edit.file


def _scope(where: Place) -> str:
    return "" if where.root is None else " --project"
