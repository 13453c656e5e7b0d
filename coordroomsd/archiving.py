"""The commands that write the database, or a room of it, into a file, and read one back.

Each gives the sentence that whoever ran it is told. What does the work is imported when it is run:
most commands need none of it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from coordroomsd.config import Config
from coordroomsd.options import explained, path_or_stream

Options = argparse.Namespace


def backup(config: Config, options: Options) -> str:
    from coordroomsd.archives import commands

    return commands.run(commands.back_up(config, options.file))


def restore(config: Config, options: Options) -> str:
    from coordroomsd.archives import commands

    return commands.run(commands.bring_back(config, options.file))


def export_room(config: Config, options: Options) -> str:
    from coordroomsd.archives import commands

    return commands.run(commands.export_room(config, options.project, options.room, options.file))


def import_room(config: Config, options: Options) -> str:
    from coordroomsd.archives import commands

    return commands.run(commands.import_room(config, options.file, options.project, options.name))


def add_backup(parser: argparse.ArgumentParser) -> None:
    _add_file(parser, "a new file; - is standard output")


def add_restore(parser: argparse.ArgumentParser) -> None:
    _add_file(parser, "a backup; - is standard input")


def add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("room", metavar="ROOM", help="by its slug, id or name")
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default=Path("-"),
        type=explained(path_or_stream),
        help="a new file (default: standard output)",
    )
    parser.add_argument("--project", metavar="P", default="default", help="default: default")


def add_import(parser: argparse.ArgumentParser) -> None:
    _add_file(parser, "what export wrote; - is standard input")
    parser.add_argument(
        "--name",
        metavar="NAME",
        type=explained(_room_name),
        help="what to call the room here (default: as in the file)",
    )
    parser.add_argument(
        "--project",
        metavar="P",
        type=explained(_line),
        help="where it belongs (default: as in the file)",
    )


def _add_file(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("file", metavar="FILE", type=explained(path_or_stream), help=text)


def _room_name(text: str) -> str:
    from coordroomsd.domain.text import room_name

    return room_name(text)


def _line(text: str) -> str:
    from coordroomsd.domain.text import one_line

    return one_line(text)
