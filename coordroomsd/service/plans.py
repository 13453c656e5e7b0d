"""What an installation or a removal would change on this machine."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coordroomsd.locations import SYSTEM_SOCKET, SYSTEM_STATE, Account
from coordroomsd.service import units
from coordroomsd.service.errors import ServiceError
from coordroomsd.service.interpreters import check_fit_for_the_system, check_stays
from coordroomsd.service.steps import Command, EmptyFolder, File, Step, read
from coordroomsd.service.units import SERVICE, SOCKET

_USER: Final = "coordrooms"


@dataclass(frozen=True)
class Scope:
    """For the whole machine, or for one user; where the files go, and how systemd is asked."""

    kind: str
    unit_folder: Path
    systemctl: Sequence[str]
    sysusers: Path | None = None
    tmpfiles: Path | None = None

    def files(self, program: Sequence[str]) -> dict[Path, str]:
        texts = {
            self.unit_folder / name: units.unit(self.kind, name, program)
            for name in (SERVICE, SOCKET)
        }
        if self.sysusers:
            texts[self.sysusers] = units.companion("coordroomsd.sysusers")
        if self.tmpfiles:
            texts[self.tmpfiles] = units.companion("coordroomsd.tmpfiles")
        return texts

    def is_so(self, question: str, unit: str) -> bool:
        """`is-active` or `is-enabled`; no without a systemd that answers."""
        try:
            asked = subprocess.run(  # noqa: S603 (no shell, and words of our own)
                [*self.systemctl, "--quiet", question, unit],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except FileNotFoundError:
            return False
        return asked.returncode == 0


def whole_machine(root: Path = Path("/")) -> Scope:
    etc = root / "etc"
    return Scope(
        "system",
        etc / "systemd/system",
        ("systemctl",),
        etc / "sysusers.d/coordroomsd.conf",
        etc / "tmpfiles.d/coordroomsd.conf",
    )


def one_user(account: Account) -> Scope:
    """Raises NoHomeError."""
    folder = account.home_directory("XDG_CONFIG_HOME", ".config") / "systemd/user"
    return Scope("user", folder, ("systemctl", "--user"))


def own_program() -> list[str]:
    """The words that start this very program, from anywhere."""
    return [sys.executable, "-P", "-m", "coordroomsd"]


@dataclass(frozen=True)
class Plan:
    scope: Scope
    steps: list[Step]
    closing: str

    @property
    def afterwards(self) -> Sequence[str]:
        """What makes systemd forget files that were put in place and taken away again."""
        return (*self.scope.systemctl, "daemon-reload")


def installation(scope: Scope, program: Sequence[str] | None = None) -> Plan:
    """Raises ServiceError."""
    if program is None:
        program = own_program()
        check_stays(Path(program[0]))
        if scope.kind == "system":
            check_fit_for_the_system(Path(program[0]))
    files = _changes(scope, dict(scope.files(program)))
    changed = {file.path for file in files}
    steps: list[Step] = [*files]
    if scope.sysusers and (scope.sysusers in changed or not _exists(_USER)):
        steps.append(Command(["systemd-sysusers", str(scope.sysusers)]))
    if scope.tmpfiles and (scope.tmpfiles in changed or not SYSTEM_SOCKET.parent.is_dir()):
        steps.append(Command(["systemd-tmpfiles", "--create", str(scope.tmpfiles)]))
    steps += _taken_up(scope, {path.name for path in changed if path.parent == scope.unit_folder})
    return Plan(scope, steps, _next_steps(scope))


def _taken_up(scope: Scope, changed: set[str]) -> list[Step]:
    """What makes systemd work by the units that have changed."""

    def systemctl(*words: str, undone_by: Sequence[str] = ()) -> Command:
        return Command([*scope.systemctl, *words], undone_by and [*scope.systemctl, *undone_by])

    steps: list[Step] = [systemctl("daemon-reload")] if changed else []
    listens = scope.is_so("is-active", SOCKET)
    if SOCKET in changed and listens:
        # While the service runs its socket cannot be made anew.
        steps += [systemctl("stop", SERVICE), systemctl("restart", SOCKET)]
    elif changed and scope.is_so("is-active", SERVICE):
        steps.append(systemctl("restart", SERVICE))
    if not listens or not scope.is_so("is-enabled", SOCKET):
        off = ("disable", "--now", SOCKET, SERVICE)
        steps.append(systemctl("enable", "--now", SOCKET, undone_by=off))
    return steps


def removal(scope: Scope) -> Plan:
    """Rooms, configuration, drop-ins and the user stay. Raises ServiceError."""
    steps: list[Step] = []
    in_place = [name for name in (SOCKET, SERVICE) if (scope.unit_folder / name).exists()]
    if in_place:
        off = [*scope.systemctl, "disable", "--now", *in_place]
        steps.append(Command(off, [*scope.systemctl, "enable", "--now", SOCKET]))
    files = _changes(scope, dict.fromkeys(scope.files(own_program()), None))
    steps += files
    if in_place:
        steps.append(Command([*scope.systemctl, "daemon-reload"]))
    if scope.tmpfiles in {file.path for file in files}:
        steps.append(EmptyFolder(SYSTEM_SOCKET.parent))
    return Plan(scope, steps, _what_stays(scope))


def _changes(scope: Scope, wanted: Mapping[Path, str | None]) -> list[File]:
    files = [File(path, read(path), text) for path, text in wanted.items()]
    for file in files:
        if file.before not in (None, file.after) and not units.is_as_made(str(file.before)):
            raise ServiceError(
                f"{file.path} was edited, or is of another origin, and is left alone. Take what "
                f"you need of it into a drop-in ({' '.join(scope.systemctl)} edit {SERVICE}), "
                "and remove the file"
            )
    return [file for file in files if file.before != file.after]


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def _next_steps(scope: Scope) -> str:
    if scope.kind == "system":
        return (
            "Done. The first call starts the daemon: coordrooms rooms\n"
            f"Let others use it:  usermod -aG {_USER} NAME   (and a new login)\n"
            "Configure it:       /etc/coordroomsd/config.toml, then systemctl reload coordroomsd\n"
            "See how it does:    systemctl status coordroomsd; journalctl -u coordroomsd"
        )
    name = pwd.getpwuid(os.geteuid()).pw_name
    return (
        "Done. The first call starts the daemon: coordrooms rooms\n"
        f"Keep it running when you log out:  loginctl enable-linger {name}\n"
        "Configure it:                      ~/.config/coordroomsd/config.toml, then "
        "systemctl --user reload coordroomsd\n"
        "See how it does:                   systemctl --user status coordroomsd"
    )


def _what_stays(scope: Scope) -> str:
    if scope.kind == "system":
        return (
            f"Done. Rooms stay in {SYSTEM_STATE}, configuration in /etc/coordroomsd, drop-ins in "
            f"{scope.unit_folder}, and the user {_USER}."
        )
    return f"Done. Rooms and configuration stay, and drop-ins in {scope.unit_folder}."
