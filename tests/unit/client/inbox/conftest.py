from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coordrooms.inbox.stores import Inbox

OpenInbox = Callable[[], Inbox]


@pytest.fixture
def open_inbox(tmp_path: Path) -> Iterator[OpenInbox]:
    """Opens the test's inbox, as a new process would: what was open is closed first."""
    opened: list[Inbox] = []

    def open_() -> Inbox:
        while opened:
            opened.pop().close()
        opened.append(Inbox(str(tmp_path / "inbox" / "bob.sqlite3")))
        return opened[0]

    yield open_
    while opened:
        opened.pop().close()
