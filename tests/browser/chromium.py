"""Debian's Chromium, and what is fixed about how it is started."""

from __future__ import annotations

import shutil
from pathlib import Path

# None of these changes how a page behaves. Root, and many a container, has no sandbox; all that is
# visited is a daemon of the test's own.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
)


def installed() -> str | None:
    """The path of a Chromium, if there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "browser"
