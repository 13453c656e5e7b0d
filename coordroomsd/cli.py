"""The command `coordroomsd`.

Exit codes: 0 done, 1 failed, 2 usage, 3 refused by the daemon, 4 daemon not reachable.

To add a command: a function from the parsed options to an exit code, and its line in `COMMANDS`.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import os
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn, TypeVar

from coordroomsd import __version__, addresses, archiving, showing, telemetry
from coordroomsd.config import Config, ConfigurationError, load
from coordroomsd.endings import Terminal, ending_signals, is_told_of_hang_ups
from coordroomsd.enrolments import Offer, RefusedError, UnreachableError, offered
from coordroomsd.locations import Account
from coordroomsd.options import explained, path_of
from coordroomsd.printing import UnwritableError, drop_what_is_unwritten, write
from coordroomsd.service.errors import ServiceError
from coordroomsd.sockets import SocketError
from coordroomsd.store.errors import StoreError

Options = argparse.Namespace
T = TypeVar("T")

DONE, FAILED, REFUSED, UNREACHABLE = 0, 1, 3, 4
BROKEN_PIPE = 128 + signal.SIGPIPE


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        options = _parsed(arguments)
        return int(options.run(options))
    except ConfigurationError as error:
        for fault in error.faults:
            _complain(fault)
    except (StoreError, SocketError, ServiceError, UnwritableError) as error:
        _complain(str(error))
    except RefusedError as error:
        _complain(str(error))
        return REFUSED
    except UnreachableError as error:
        _complain(str(error))
        return UNREACHABLE
    except BrokenPipeError:  # whoever reads has seen enough
        drop_what_is_unwritten()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        _complain("interrupted")
    return FAILED


def _parsed(arguments: Sequence[str] | None) -> Options:
    try:
        return _parser().parse_args(arguments)
    except SystemExit:
        # Its help is printed and, perhaps, not written.
        write("", end="")
        raise


def serve(options: Options) -> int:
    # Until the daemon itself looks after them: the import alone takes half a second.
    for number in ending_signals():
        signal.signal(number, _end_before_anything_began)
    if is_told_of_hang_ups():
        terminal = Terminal()

        def hung_up(number: int, frame: FrameType | None) -> None:
            # Without a terminal that is gone: the configuration is about to be read anyway.
            if terminal.is_gone():
                _end_before_anything_began(number, frame)

        signal.signal(signal.SIGHUP, hung_up)
    from coordroomsd import server

    return server.serve(_configuration(options), functools.partial(_configuration, options))


def _end_before_anything_began(number: int, frame: FrameType | None) -> NoReturn:
    # An exception could come up where Python ignores one, in the midst of an import.
    os._exit(DONE)


def check_config(options: Options) -> int:
    config = _configuration(options)
    telemetry.check(config.tracing)
    if options.quiet:
        return DONE
    for line in showing.lines(config, options.config or Account().config_file()):
        write(line)
    return DONE


def migrate(options: Options) -> int:
    applied = asyncio.run(_migrated(_configuration(options)))
    for name in applied:
        write(f"applied {name}")
    if not applied:
        write("nothing to do: the database is up to date")
    return DONE


def enroll(options: Options) -> int:
    config = _configuration(options)
    # A person unless told otherwise, if it is to be the operator.
    kind = options.kind or ("agent" if options.role in (None, "agent") else "human")
    offer = Offer(options.name, kind, options.role or kind, options.expires_in, options.project)
    code = offered(offer, config.server.socket)
    # Alone on standard output, so that it can be piped to where it is taken up.
    try:
        write(code.code)
    except (BrokenPipeError, UnwritableError):
        raise UnwritableError(
            f"the code for {offer.name} cannot be written, and nobody has it now. Make another one"
        ) from None
    print(_next_step(config, offer, code.expires_at), file=sys.stderr)
    return DONE


def install_service(options: Options) -> int:
    from coordroomsd.service import commands

    return commands.install(options)


def uninstall_service(options: Options) -> int:
    from coordroomsd.service import commands

    return commands.uninstall(options)


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    summary: str
    run: Callable[[Options], int]
    arguments: Callable[[argparse.ArgumentParser], None] | None = None
    is_configured: bool = True


def _add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="show faults alone")


def _add_enrolment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="whom the code is for")
    parser.add_argument("--kind", choices=("agent", "human"), help="default: agent")
    parser.add_argument(
        "--role", choices=("agent", "human", "operator"), help="default: that of the kind"
    )
    parser.add_argument(
        "--expires-in", type=int, metavar="S", help="how long the code is good (default: an hour)"
    )
    parser.add_argument("--project", metavar="P", help="default: default")


def _add_service(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", action="store_true", help="for yourself alone, without root")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument(
        "--dry-run", action="store_true", help="only show what would change, with every line"
    )


def _told(work: Callable[[Config, Options], str]) -> Callable[[Options], int]:
    """A command that says what it did where that is in nobody's way."""

    def run(options: Options) -> int:
        # Standard output may be where the file goes to.
        print(work(_configuration(options), options), file=sys.stderr)
        return DONE

    return run


COMMANDS = (
    Command("serve", "run the daemon until it is told to end", serve),
    Command(
        "check-config", "show the effective configuration, or its faults", check_config, _add_quiet
    ),
    Command("migrate", "bring the database's schema up to date, and end", migrate),
    Command(
        "backup",
        "write the whole database to a file, daemon or not",
        _told(archiving.backup),
        archiving.add_backup,
    ),
    Command(
        "restore",
        "fill an empty database from a backup",
        _told(archiving.restore),
        archiving.add_restore,
    ),
    Command(
        "export",
        "write one room as JSON lines, daemon or not",
        _told(archiving.export_room),
        archiving.add_export,
    ),
    Command(
        "import",
        "make a room of such a file, while no daemon runs",
        _told(archiving.import_room),
        archiving.add_import,
    ),
    Command("enroll", "make a one-time code that lets somebody in", enroll, _add_enrolment),
    Command(
        "install-service",
        "have systemd start the daemon at the first call",
        install_service,
        _add_service,
        is_configured=False,
    ),
    Command(
        "uninstall-service",
        "take that back; rooms stay",
        uninstall_service,
        _add_service,
        is_configured=False,
    ),
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="coordroomsd", description="Keeps the rooms in which AI coding agents coordinate."
    )
    parser.add_argument("--version", action="version", version=f"coordroomsd {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        one = commands.add_parser(command.name, help=command.summary, description=command.summary)
        one.set_defaults(run=command.run)
        if command.is_configured:
            _add_configuration(one)
        if command.arguments:
            command.arguments(one)
    return parser


def _add_configuration(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("configuration", "An option goes before the file.")

    def option(name: str, metavar: str, parse: Callable[[str], object], text: str) -> None:
        group.add_argument(name, metavar=metavar, type=explained(parse), help=text)

    option("--config", "FILE", path_of, "the configuration, in TOML")
    option("--state-dir", "DIR", path_of, "where the private database is kept")
    option("--socket", "PATH", _socket_path, "the Unix socket to serve")
    option("--listen", "HOST:PORT", addresses.parse_listen, "a TCP address to serve as well")
    option(
        "--database-url",
        "URL",
        addresses.check_database_url,
        "a PostgreSQL to use instead of a private one (the process list shows it: a URL with a "
        "password belongs in the file)",
    )


def _configuration(options: Options) -> Config:
    return load(
        options.config,
        state_dir=options.state_dir,
        socket=options.socket,
        listen=options.listen,
        database_url=options.database_url,
    )


def _socket_path(text: str) -> Path:
    return addresses.check_socket_path(path_of(text))


def _next_step(config: Config, offer: Offer, expires_at: str) -> str:
    """What whoever gets the code does with it."""
    listen, hosts = config.server.listen, config.server.hosts
    url, warning = "", ""
    if hosts:
        url = f" --url https://{hosts[0]}"
    elif listen:
        url = f" --url http://{listen}"
    else:
        warning = (
            "\nOnly users of this host who may open the daemon's socket can do that: it serves no "
            "TCP address. [server] listen in its configuration would be one."
        )
    return (
        f"{offer.name} comes in with this code as {offer.role} (kind {offer.kind}), once, until "
        f"{expires_at}.\nWhere {offer.name} is, this asks for the code:\n"
        f"    coordrooms me {shlex.quote(offer.name)} --code{url}{warning}"
    )


async def _migrated(config: Config) -> list[str]:
    from coordroomsd.store.database import Database
    from coordroomsd.store.private_postgres import PrivatePostgres

    owner = "coordroomsd migrate"
    if config.database.url is not None:
        database = await Database.open(config.database.url, owner=owner)
        await database.close()
        return database.applied
    server = PrivatePostgres(config.state_dir, config.database.run_as)
    await server.start()
    try:
        database = await Database.open(server.connect_arguments(), owner=owner)
        await database.close()
        return database.applied
    finally:
        await server.stop()


def _complain(sentence: str) -> None:
    print(f"coordroomsd: {sentence}", file=sys.stderr)
