"""Programs that nobody here wrote, each at the version that was tried, in a folder of their own.

    python -m tests.acceptance.outside.programs

installs them into the user's cache (COORDROOMS_TEST_OUTSIDE names another folder): the MCP
Inspector by npm, a generator of clients from OpenAPI descriptions by pip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

import pytest

HERE: Final = Path(__file__).parent
# What is installed is what these say, or it is installed again.
PINNED: Final = ("package.json", "package-lock.json", "requirements.txt")


def folder() -> Path:
    named = os.environ.get("COORDROOMS_TEST_OUTSIDE")
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(named) if named else usual / "coordrooms" / "outside"


def inspector() -> Path:
    """The Inspector's command; skips the test without it."""
    _skip_unless_installed()
    return folder() / "node_modules" / ".bin" / "mcp-inspector"


def generator() -> Path:
    """The folder of the generator's commands, its Python among them; skips the test without it."""
    _skip_unless_installed()
    return folder() / "generator" / "bin"


def install() -> None:
    into = folder()
    if _is_installed(into):
        return
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    shutil.copy(HERE / "package.json", into)
    shutil.copy(HERE / "package-lock.json", into)
    # Not `npm ci`, which finds an optional package of Windows missing from what it wrote itself.
    _run("npm", "install", "--no-audit", "--no-fund", cwd=into)
    shutil.copy(HERE / "package-lock.json", into)
    venv.create(into / "generator", with_pip=True)
    _run(into / "generator/bin/pip", "install", "-qq", "-r", HERE / "requirements.txt")
    # Last, so that half an installation is none.
    shutil.copy(HERE / "requirements.txt", into)


def _is_installed(there: Path) -> bool:
    return all(
        (there / name).exists() and (there / name).read_bytes() == (HERE / name).read_bytes()
        for name in PINNED
    )


def _skip_unless_installed() -> None:
    if shutil.which("node") is None:
        pytest.skip("needs node (apt-get install nodejs npm)")
    if not _is_installed(folder()):
        pytest.skip("needs what python -m tests.acceptance.outside.programs installs")


def _run(*command: str | Path, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    install()
