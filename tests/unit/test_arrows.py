"""Imports go down the picture in docs/architecture.md, never up and never sideways."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"coordroomsd": ROOT / "coordroomsd", "coordrooms": ROOT / "client" / "coordrooms"}

HEIGHTS = {
    "domain": 0,
    "clock": 1,
    "peers": 1,
    "store": 2,
    "live": 3,
    "journal": 4,
    "api": 5,
    "http": 6,
    "mcp": 6,
    "page": 7,
}
TOP = 8
HIGHEST_WITHOUT_A_SERVER = HEIGHTS["api"]
SERVERS = {"httptools", "mcp", "starlette", "uvicorn", "uvloop"}

# What rules may be made of: no input, no output, no clock, no randomness.
PURE = {
    "__future__", "abc", "base64", "bisect", "collections", "dataclasses", "datetime", "enum",
    "functools", "hashlib", "heapq", "itertools", "json", "math", "operator", "re", "string",
    "types", "typing", "unicodedata",
}  # fmt: skip


def imports(module: str, source: str, *, is_package: bool = False) -> Iterator[tuple[int, str]]:
    """Line and full name of all that is imported; `from a import b` is `a.b`: a module, perhaps."""
    here = module.split(".")
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=named, names=names, level=level):
                parent = here[: len(here) - level + is_package] if level else []
                path = ".".join([*parent, *([named] if named else [])])
                yield from ((node.lineno, f"{path}.{alias.name}") for alias in names)


def layer(module: str) -> str:
    """`store` for `coordroomsd.store.reads`."""
    return module.split(".")[1]


def objection(importer: str, imported: str) -> str | None:
    """Why `importer` may not import `imported`; None when it may."""
    ours, other = importer.split(".")[0], imported.split(".")[0]
    if ours == "coordrooms":
        if other == ours or other in sys.stdlib_module_names:
            return None
        return "the client needs nothing but the standard library"
    if other == "coordrooms":
        return "the daemon does not need the client"
    # The package itself is its version, which everyone may show.
    if importer == "coordroomsd" or imported == "coordroomsd.__version__":
        return None
    height = HEIGHTS.get(layer(importer), TOP)
    if other == "coordroomsd":
        reaches = layer(importer) == layer(imported) or height == TOP
        if not reaches and height <= HEIGHTS.get(layer(imported), TOP):
            return f"{layer(importer)} stands below {layer(imported)}, or beside it"
    elif layer(importer) == "domain" and other not in PURE:
        return "domain is pure (PURE in this test lists what it may use)"
    elif height <= HIGHEST_WITHOUT_A_SERVER and other in SERVERS:
        return f"{layer(importer)} knows no server"
    return None


def module_name(file: Path) -> str:
    for package, folder in PACKAGES.items():
        if file.is_relative_to(folder):
            parts = [package, *file.relative_to(folder).with_suffix("").parts]
            return ".".join(part for part in parts if part != "__init__")
    raise AssertionError(f"{file} is in no package")


def wrong_arrows(file: Path, module: str, source: str) -> list[str]:
    found = imports(module, source, is_package=file.name == "__init__.py")
    return [
        f"{file}:{line}: {module} → {imported}: {why}"
        for line, imported in found
        if (why := objection(module, imported))
    ]


def test_imports_go_down() -> None:
    files = [file for folder in PACKAGES.values() for file in sorted(folder.rglob("*.py"))]
    assert len({module_name(file) for file in files}) == len(files) > len(PACKAGES)
    wrong = [
        arrow
        for file in files
        for arrow in wrong_arrows(file.relative_to(ROOT), module_name(file), file.read_text())
    ]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("coordroomsd.domain.rooms", "import asyncio"),
        ("coordroomsd.domain.rooms", "import orjson"),
        ("coordroomsd.domain.rooms", "from time import time"),
        ("coordroomsd.domain.rooms", "from coordroomsd.store import reads"),
        ("coordroomsd.domain.rooms", "from coordroomsd import clock"),
        ("coordroomsd.domain.rooms", "from ..store import reads"),
        ("coordroomsd.store.reads", "from coordroomsd import live"),
        ("coordroomsd.store.reads", "from coordroomsd.config import Config"),
        ("coordroomsd.store.reads", "import coordroomsd.app"),
        ("coordroomsd.live.rooms", "import starlette.routing"),
        ("coordroomsd.journal.journal", "from mcp.types import Tool"),
        ("coordroomsd.api.pipeline", "def late():\n    import uvicorn"),
        ("coordroomsd.api.pipeline", "from coordroomsd.http.wait import wait"),
        ("coordroomsd.http.wait", "from coordroomsd.mcp.tools import TOOLS"),
        ("coordroomsd.mcp.tools", "from coordroomsd.app import App"),
        ("coordroomsd.http.calls", "from coordroomsd.page.sessions import Sessions"),
        ("coordroomsd.app", "import coordrooms"),
        ("coordrooms.wire", "import coordroomsd.domain.text"),
        ("coordrooms.wire", "import h11"),
    ],
)
def test_an_arrow_that_points_up_is_found(importer: str, statement: str) -> None:
    [arrow] = wrong_arrows(Path("file.py"), importer, f"import typing\n\n{statement}\n")
    line = 4 if statement.startswith("def") else 3
    assert arrow.startswith(f"file.py:{line}: {importer} → ")


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("coordroomsd.domain.rooms", "from datetime import datetime"),
        ("coordroomsd.domain.rooms", "from .events import Event"),
        ("coordroomsd.store.reads", "from coordroomsd.domain.rooms import Room"),
        ("coordroomsd.live.timers", "from coordroomsd.clock import Clock"),
        ("coordroomsd.http.openapi", "from coordroomsd import __version__"),
        ("coordroomsd.http.wait", "from coordroomsd.domain import ids"),
        ("coordroomsd.http.wait", "import starlette"),
        ("coordroomsd.app", "from coordroomsd.http import routes"),
        ("coordroomsd.cli", "from coordroomsd import server"),
        ("coordrooms.wire", "from coordrooms import errors"),
        ("coordrooms.wire", "import socket"),
    ],
)
def test_an_arrow_that_points_down_is_not(importer: str, statement: str) -> None:
    assert wrong_arrows(Path("file.py"), importer, statement) == []


def test_a_relative_import_in_a_package_starts_there() -> None:
    [(_, name)] = imports("coordroomsd.store", "from .reads import page", is_package=True)
    assert name == "coordroomsd.store.reads.page"
