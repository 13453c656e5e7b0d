from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.client.hooks.answering import AnsweringDaemon, Hooks


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[AnsweringDaemon]:
    with AnsweringDaemon(tmp_path / "d.sock") as daemon:
        yield daemon


@pytest.fixture
def hooks(daemon: AnsweringDaemon, tmp_path: Path) -> Hooks:
    return Hooks(tmp_path / "home", daemon.url)
