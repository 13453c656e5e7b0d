from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.acceptance.daemons import Daemon


@pytest.fixture(scope="session")
def daemon() -> Iterator[Daemon]:
    """For all tests that leave it running; each makes its own rooms and participants."""
    daemon = Daemon()
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.discard()


@pytest.fixture
def own_daemon() -> Iterator[Daemon]:
    """A daemon of the test's own, to stop and to kill."""
    daemon = Daemon()
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.discard()


@pytest.fixture
def unique() -> Callable[[str], str]:
    """`unique("ann")` is a name that nobody used before, the same one within a test."""
    suffix = uuid.uuid4().hex[:8]
    return lambda name: f"{name}-{suffix}"
