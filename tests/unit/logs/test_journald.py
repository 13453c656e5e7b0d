from __future__ import annotations

import io
import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordroomsd.logs.journald import JournalHandler, is_journal
from tests.unit.logs.records import raised, record


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
        journal.bind(str(tmp_path / "journal"))
        journal.setblocking(False)
        yield journal


def parsed(data: bytes) -> dict[str, str]:
    """As journald reads a datagram: `NAME=value`, or a name, a length and that many bytes."""
    fields = {}
    while data:
        name, _, rest = data.partition(b"\n")
        if b"=" in name:
            name, _, value = name.partition(b"=")
            data = rest
        else:
            length = int.from_bytes(rest[:8], "little")
            value, data = rest[8 : 8 + length], rest[9 + length :]
        fields[name.decode()] = value.decode()
    return fields


@pytest.fixture
def otherwise() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def to_journal(journal: socket.socket, otherwise: io.StringIO) -> Iterator[JournalHandler]:
    handler = JournalHandler(journal.getsockname(), logging.StreamHandler(otherwise))
    yield handler
    handler.close()


def test_a_line_becomes_fields(
    journal: socket.socket, to_journal: JournalHandler, otherwise: io.StringIO
) -> None:
    to_journal.handle(record("refused %s", "wait", fields={"code": "unauthorized", "status": 401}))
    fields = parsed(journal.recv(65536))
    assert fields.pop("CODE_FILE") == record.__code__.co_filename
    assert fields == {
        "MESSAGE": "refused wait",
        "PRIORITY": "4",
        "SYSLOG_IDENTIFIER": "coordroomsd",
        "LOGGER": "coordroomsd.test",
        "CODE_LINE": "1",
        "CODE_FUNC": "here",
        "COORDROOMS_CODE": "unauthorized",
        "COORDROOMS_STATUS": "401",
    }
    assert otherwise.getvalue() == ""


def test_a_value_forges_no_field(journal: socket.socket, to_journal: JournalHandler) -> None:
    forged = "ann\nPRIORITY=0\nMESSAGE=all is lost"
    made = record(forged, fields={"name": forged}, error=raised(OSError(5, forged)))
    to_journal.handle(made)
    fields = parsed(journal.recv(65536))
    assert fields["PRIORITY"] == "4"
    assert fields["MESSAGE"].startswith("ann\nPRIORITY=0\n")
    assert fields["COORDROOMS_NAME"] == forged.replace("\n", "\\n")


@pytest.mark.parametrize(
    ("level", "priority"),
    [("CRITICAL", "2"), ("ERROR", "3"), ("WARNING", "4"), ("INFO", "6"), ("DEBUG", "7")],
)
def test_priorities_are_those_of_syslog(
    journal: socket.socket, to_journal: JournalHandler, level: str, priority: str
) -> None:
    to_journal.handle(record("x", level=getattr(logging, level)))
    assert parsed(journal.recv(65536))["PRIORITY"] == priority


def test_a_long_line_is_cut(
    journal: socket.socket, to_journal: JournalHandler, otherwise: io.StringIO
) -> None:
    to_journal.handle(record("x", fields={"name": "ü" * 1_000_000}))
    assert otherwise.getvalue() == ""
    assert len(journal.recv(1_000_000)) < 100_000


def test_a_journal_that_is_stuck_or_gone_is_not_waited_for(
    journal: socket.socket, to_journal: JournalHandler, otherwise: io.StringIO
) -> None:
    for number in range(2000):
        to_journal.handle(record("line %s", number))
    assert "line 1999" in otherwise.getvalue()
    os.unlink(journal.getsockname())
    to_journal.handle(record("gone"))
    assert "gone" in otherwise.getvalue()


def test_whether_a_stream_is_the_journals(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with file.open("w") as stream:
        status = file.stat()
        named = {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
        assert is_journal(stream.fileno(), named)
        # A service whose standard error was sent elsewhere, and no service.
        assert not is_journal(stream.fileno(), {"JOURNAL_STREAM": f"{status.st_dev}:1"})
        assert not is_journal(stream.fileno(), {})
        descriptor = stream.fileno()
    assert not is_journal(descriptor, named)
