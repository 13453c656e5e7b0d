from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coordroomsd.config import Config, load
from coordroomsd.locations import Account
from coordroomsd.reloading import Reloading, merged
from coordroomsd.systemd import Notifier
from tests.polling import until

ACCOUNT = Account(uid=0, environment={})
PASSWORD = "postgresql://ann:secret@db/rooms"


class File:
    """A configuration, edited while the daemon runs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.write("")

    def write(self, text: str) -> None:
        self._path.write_text(text)

    def read(self) -> Config:
        return load(self._path, account=ACCOUNT)


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path / "config.toml")


def test_what_may_change_changes_and_the_rest_waits(file: File) -> None:
    running = file.read()
    file.write("[limits]\nclaim_burst = 3\n[server]\nlisten = '[::1]:80'\nhosts = ['a']")
    config, changed, waiting = merged(running, file.read())
    assert (config.limits.claim_burst, config.server.hosts) == (3, ("a",))
    assert config.server.listen is None
    assert changed == ["server.hosts", "limits.claim_burst"]
    assert waiting == ["server.listen"]
    assert config.sources["limits.claim_burst"].endswith("config.toml")
    assert config.sources["server.listen"] == "default"


def test_what_waits_for_a_restart_waits_on(file: File) -> None:
    running = file.read()
    file.write("[server]\nlisten = '[::1]:80'")
    once = merged(running, file.read()).in_force
    assert merged(once, file.read()) == (once, [], ["server.listen"])


def test_a_key_that_is_taken_out_has_its_default_again(file: File) -> None:
    file.write("[limits]\nclaim_burst = 3")
    running = file.read()
    file.write("")
    config, changed, _ = merged(running, file.read())
    assert (config.limits.claim_burst, changed) == (20, ["limits.claim_burst"])


@contextmanager
def running(file: File, notified: Path | None = None) -> Iterator[tuple[Reloading, list[Config]]]:
    """One that runs, and what it has put into force."""
    adopted: list[Config] = []
    notifier = Notifier({"NOTIFY_SOCKET": str(notified)} if notified else {})
    reloading = Reloading(file.read(), file.read, notifier)
    task = asyncio.create_task(reloading.run(adopted.append, "serves"))
    yield reloading, adopted
    assert not task.done()
    task.cancel()


async def logged(caplog: pytest.LogCaptureFixture, enough: Callable[[list[str]], bool]) -> str:
    await until(lambda: enough(caplog.messages))
    return "\n".join(caplog.messages)


async def test_a_file_with_faults_changes_nothing_and_each_is_named(
    file: File, caplog: pytest.LogCaptureFixture
) -> None:
    with running(file) as (asked, adopted):
        file.write("[limits]\nmesage_burst = 1\nclaim_burst = -1\nroom_burst = 5")
        asked.ask()
        text = await logged(caplog, lambda lines: len(lines) == 2)
        assert "config.toml: [limits] mesage_burst: there is no such key; did you mean" in text
        assert "config.toml: [limits] claim_burst: should be greater than" in text
        assert {record.levelno for record in caplog.records} == {logging.ERROR}
        assert adopted == []
        file.write("[limits]\nroom_burst = 5")
        asked.ask()
        await until(lambda: bool(adopted))
    assert adopted[0].limits.room_burst == 5


async def test_a_reader_that_breaks_ends_nothing(
    file: File, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Config:
        raise ZeroDivisionError

    reloading = Reloading(file.read(), broken, Notifier({}))
    task = asyncio.create_task(reloading.run(lambda _: None, "serves"))
    reloading.ask()
    assert "stays as it was" in await logged(caplog, bool)
    assert not task.done()
    task.cancel()


async def test_what_has_changed_is_told_without_values(
    file: File, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with running(file) as (asked, _):
        file.write(f"[database]\nurl = '{PASSWORD}'\n[log]\nlevel = 'info'")
        asked.ask()
        text = await logged(caplog, lambda lines: len(lines) == 2)
        assert "[database] url has changed" in text
        assert "waits for a restart" in text
        assert "nothing new is in force" in text
        assert "secret" not in text
        caplog.clear()
        file.write("[log]\nlevel = 'error'")
        asked.ask()
        assert await logged(caplog, bool) == (f"[log] level has changed, from {file._path}")


async def test_the_manager_hears_when_it_begins_and_when_it_is_done(
    file: File, tmp_path: Path
) -> None:
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.setblocking(False)
        with running(file, tmp_path / "notify") as (asked, _):
            for text in ("", "not TOML"):
                file.write(text)
                asked.ask()
                begun = (await loop.sock_recv(manager, 1000)).decode()
                assert begun.startswith("RELOADING=1\nMONOTONIC_USEC=")
                assert int(begun.rpartition("=")[2]) > 0
                assert await loop.sock_recv(manager, 1000) == b"READY=1\nSTATUS=serves"


async def test_a_wish_during_the_start_is_kept(file: File) -> None:
    adopted: asyncio.Queue[Config] = asyncio.Queue()
    reloading = Reloading(file.read(), file.read, Notifier({}))
    reloading.ask()
    file.write("[limits]\nroom_burst = 5")
    task = asyncio.create_task(reloading.run(adopted.put_nowait, "serves"))
    assert (await adopted.get()).limits.room_burst == 5
    task.cancel()


async def test_a_wish_while_it_reads_is_done_after_that(file: File) -> None:
    reads = 0
    both = asyncio.Event()
    loop = asyncio.get_running_loop()

    def read() -> Config:
        nonlocal reads
        reads += 1
        loop.call_soon_threadsafe(reloading.ask if reads == 1 else both.set)
        return file.read()

    reloading = Reloading(file.read(), read, Notifier({}))
    task = asyncio.create_task(reloading.run(lambda _: None, "serves"))
    reloading.ask()
    await both.wait()
    task.cancel()
    await asyncio.wait([task])
    assert reads == 2
