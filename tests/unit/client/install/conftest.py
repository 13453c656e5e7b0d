from __future__ import annotations

import os
from pathlib import Path

import pytest

from coordrooms.install import plans
from tests.unit.client.install.homes import (
    PROGRAM,
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the installer remembers is the test's own; the command is where a user has it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(plans, "program", lambda: PROGRAM)
    # Hundreds of homes are made here, none of which is to outlive a power cut.
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    return tmp_path / "state"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path
