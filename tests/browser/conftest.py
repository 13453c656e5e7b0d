"""A daemon and a Chromium for the tests of the page."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.acceptance.daemons import running
from tests.browser.chromium import FLAGS, installed
from tests.browser.visitors import House, Visitor, visiting
from tests.polling import GIVE_UP_AFTER_S

Visit = Callable[..., AbstractContextManager[Visitor]]

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = installed()
    expect.set_options(timeout=GIVE_UP_AFTER_S * 1000)
    assert path, "there is no chromium: `make browser` installs Debian's as root"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with running(House(tmp_path_factory.mktemp("home"))) as house:
        yield house


@pytest.fixture
def own_house(tmp_path: Path) -> Iterator[House]:
    """For a test that stops or restarts it."""
    with running(House(tmp_path / "home")) as house:
        yield house


@pytest.fixture
def visit(browser: Browser, house: House) -> Visit:
    """`with visit("ann") as ann:`, with `size` and `theme`; `ann.sign_in()` gives the page."""

    def as_somebody(name: str, **how: Any) -> AbstractContextManager[Visitor]:
        return visiting(browser, house, name, **how)

    return as_somebody


@pytest.fixture
def unique() -> Callable[[str], str]:
    """A name that no other test uses."""
    return lambda name: f"{name}-{next(_numbers)}"
