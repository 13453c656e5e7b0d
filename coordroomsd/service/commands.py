"""`install-service` and `uninstall-service`: show what would change, ask once, do it."""

from __future__ import annotations

import contextlib
import difflib
import fcntl
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

from coordroomsd.locations import Account, NoHomeError
from coordroomsd.printing import write
from coordroomsd.service.errors import ServiceError
from coordroomsd.service.plans import Plan, Scope, installation, one_user, removal, whole_machine
from coordroomsd.service.steps import File, carry_out, run

DONE, FAILED = 0, 1


def install(options: Namespace) -> int:
    return _change(options, installation, "coordroomsd is installed already; nothing to change.")


def uninstall(options: Namespace) -> int:
    return _change(options, removal, "coordroomsd is not installed as a service here.")


def _change(options: Namespace, plan_for: Callable[[Scope], Plan], nothing: str) -> int:
    scope = _scope(user=options.user)
    if options.dry_run:
        plan = plan_for(scope)
        write(_preview(plan, with_text=True) if plan.steps else nothing)
        return DONE
    if scope.kind == "system" and os.geteuid() != 0:
        raise ServiceError("the whole machine's services are root's: use sudo, or give --user")
    # Without a manager that answers, nothing below would work.
    run([*scope.systemctl, "show", "--property=Version"])
    with _alone(scope):
        plan = plan_for(scope)
        if not plan.steps:
            write(nothing)
            return DONE
        write(_preview(plan, with_text=False))
        if not options.yes and not _agreed():
            print("Nothing was changed.", file=sys.stderr)
            return FAILED
        carry_out(plan.steps, plan.afterwards)
    write(plan.closing)
    return DONE


def _scope(*, user: bool) -> Scope:
    if not user:
        return whole_machine()
    # su and sudo leave it out, and systemctl --user needs it.
    os.environ.setdefault("XDG_RUNTIME_DIR", f"/run/user/{os.geteuid()}")
    try:
        return one_user(Account())
    except NoHomeError as error:
        raise ServiceError(f"no place for your units: {error}") from error


@contextlib.contextmanager
def _alone(scope: Scope) -> Iterator[None]:
    """Keep out another installation at the same time."""
    folder: Path = scope.unit_folder
    while not folder.is_dir():
        folder = folder.parent
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ServiceError(
                f"somebody else is changing {folder}: let that end, and try again"
            ) from None
        yield
    finally:
        os.close(descriptor)


def _preview(plan: Plan, *, with_text: bool) -> str:
    where = "this machine" if plan.scope.kind == "system" else "you"
    lines = [f"For {where}, in this order:"]
    for step in plan.steps:
        lines.append(f"  {step.shown}")
        if isinstance(step, File) and (with_text or None not in (step.before, step.after)):
            lines += [f"      {line}" for line in _differences(step)]
    return "\n".join(lines)


def _differences(file: File) -> list[str]:
    if file.before is None or file.after is None:
        return (file.after or "").splitlines()
    before, after = file.before.splitlines(), file.after.splitlines()
    return list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise ServiceError("there is no terminal to ask on: give --yes, or --dry-run to look")
    write("Do this? [y/N] ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
