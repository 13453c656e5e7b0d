from __future__ import annotations

import asyncio
import gc
import io
import json
import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordroomsd.logs import outputs
from coordroomsd.logs.repeats import SHOWN
from coordroomsd.settings import Log

ours = logging.getLogger("coordroomsd.test")
another = logging.getLogger("somebody.else")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root, daemon = logging.getLogger(), logging.getLogger("coordroomsd")
    handlers, levels = root.handlers[:], (root.level, daemon.level)
    yield
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    daemon.setLevel(levels[1])


def test_the_level_is_of_our_own_lines_and_may_change() -> None:
    stream = io.StringIO()
    outputs.begin(Log(level="warning", format="json"), {}, stream)
    ours.info("not told")
    ours.warning("told")
    outputs.set_level("debug")
    ours.debug("told now")
    another.info("never told")
    another.warning("a library's")
    messages = [json.loads(line)["message"] for line in stream.getvalue().splitlines()]
    assert messages == ["told", "told now", "a library's"]


def test_under_systemd_lines_go_to_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal,
        path.with_name("stderr").open("w") as stream,
    ):
        journal.bind(str(path))
        status = os.fstat(stream.fileno())
        environment = {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
        outputs.begin(Log(), environment, stream, str(path))
        ours.warning("to the journal")
        assert b"MESSAGE=to the journal\n" in journal.recv(65536)
        outputs.begin(Log(format="text"), environment, stream, str(path))
        ours.warning("to the file")
    assert (tmp_path / "stderr").read_text().endswith("WARNING coordroomsd.test: to the file\n")


async def test_what_was_held_back_is_told_at_the_end_too() -> None:
    stream = io.StringIO()
    logs = outputs.begin(Log(), {}, stream)
    reporting = asyncio.create_task(logs.report_repeats_regularly())
    await asyncio.sleep(0)
    for number in range(100):
        ours.warning("away: %s", number)
    assert len(stream.getvalue().splitlines()) == SHOWN
    reporting.cancel()
    await asyncio.wait([reporting])
    assert "95 more in 10 s like: away: 99" in stream.getvalue()


async def test_what_the_loop_has_to_say_shows_no_result() -> None:
    stream = io.StringIO()
    outputs.begin(Log(), {}, stream)
    asyncio.get_running_loop().set_exception_handler(outputs.told_by_loop)

    secret = "a body"

    async def fails() -> None:
        raise KeyError(secret)

    task = asyncio.create_task(fails(), name="a task")
    await asyncio.wait([task])
    del task
    gc.collect()
    text = stream.getvalue()
    assert "a task: Task exception was never retrieved" in text
    assert "KeyError" in text
    assert secret not in text
