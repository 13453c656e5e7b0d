from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.acceptance.daemons import Daemon, running


@pytest.fixture(scope="session")
def daemon() -> Iterator[Daemon]:
    """For all tests that leave it running; each makes its own rooms and participants."""
    with running(Daemon()) as daemon:
        yield daemon


@pytest.fixture
def own_daemon() -> Iterator[Daemon]:
    """A daemon of the test's own, to stop and to kill."""
    with running(Daemon()) as daemon:
        yield daemon


@pytest.fixture
def unique() -> Callable[[str], str]:
    """`unique("ann")` is a name that nobody used before, the same one within a test."""
    suffix = uuid.uuid4().hex[:8]
    return lambda name: f"{name}-{suffix}"
