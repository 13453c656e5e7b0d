"""What `install` and `uninstall` share: show what would change, ask once, do it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from .. import __version__
from ..hosts import NAMES, load
from ..hosts.facts import Host
from ..install.plans import Plan, place
from ..install.transactions import exclusive
from ..models import Json
from .failures import DONE, FAILED, WrongUsageError
from .outputs import Output
from .texts import safe


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("host", metavar="HOST", help=", ".join(NAMES))
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--user", action="store_true", help="for all your sessions (the default)")
    scope.add_argument(
        "--project",
        metavar="DIR",
        nargs="?",
        const=".",
        help="for sessions in one project (default: the working directory)",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument("--json", action="store_true", help="print what changes as JSON")


def change(arguments: Namespace, output: Output, *, removal: bool) -> int:
    host = load(arguments.host)
    if host is None:
        raise WrongUsageError(f"There is no host {arguments.host!r}. Hosts: {', '.join(NAMES)}.")
    with exclusive():
        plan = Plan(host, place(arguments.project), removal=removal)
        if not plan.changed:
            output.answer(_document(plan, done=False), _nothing(plan))
            return DONE
        if not output.as_json:
            output.line(_preview(plan))
        if arguments.dry_run:
            if output.as_json:
                output.document(_document(plan, done=False))
            return DONE
        if not arguments.yes and not _agreed():
            output.aside("Nothing was changed.")
            return FAILED
        plan.carry_out()
    output.answer(_document(plan, done=True), _closing(host, removal=removal))
    return DONE


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise WrongUsageError("There is no terminal to ask on: give --yes, or --dry-run to look.")
    print("Change these files? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _preview(plan: Plan) -> str:
    where = "for you" if plan.place.root is None else f"in {plan.place.root}"
    lines = [f"{plan.host.title}, {where}:"]
    for document in plan.remarks:
        new = " (new)" if document.before is None else ""
        gone = " (removed)" if document.after is None else ""
        lines += [f"  {document.file}{new}{gone}", *(f"    {said}" for said in document.said)]
    return safe("\n".join(lines), lines=True)


def _nothing(plan: Plan) -> str:
    if plan.removal:
        return f"Nothing of coordrooms is in {plan.host.title}'s files."
    return f"{plan.host.title} is set up already; nothing to change."


def _closing(host: Host, *, removal: bool) -> str:
    if removal:
        return f"Done. Sessions of {host.title} that run now keep what they loaded."
    lines = [f"Done. New sessions of {host.title} have the tools and hooks."]
    lines += [host.notes] if host.notes else []
    lines.append(f"`coordrooms doctor {host.name}` tells whether the hooks have fired.")
    return "\n".join(lines)


def _document(plan: Plan, *, done: bool) -> Json:
    files = [{"file": document.file, "changes": document.said} for document in plan.remarks]
    return {
        "host": plan.host.name,
        "project": plan.place.root,
        "version": __version__,
        "changed": done,
        "files": files,
    }
