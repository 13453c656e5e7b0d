"""The daemon as its user meets it: told to end at any moment, killed, and started again."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.processes import (
    AS_BOTH,
    ROOM,
    Make,
    account,
    daemon,
    home,
    is_waiting,
    left_behind,
    make,
    two_in_a_room,
)
from tests.daemon_processes import DaemonProcess, made_state
from tests.figures import report
from tests.http_callers import Caller
from tests.integration.keepers import ordinary_user, ourselves
from tests.polling import until

__all__ = ["account", "daemon", "home", "made_state", "make"]


class TestEnding:
    @AS_BOTH
    @pytest.mark.parametrize(
        "tell",
        [
            lambda daemon: daemon.end(signal.SIGTERM),
            # These go to all of a terminal's processes, and the database must not end first.
            lambda daemon: daemon.end(signal.SIGINT, group=True),
        ],
        ids=["SIGTERM", "Ctrl-C"],
    )
    async def test_it_answers_whoever_waits_and_leaves_only_data(
        self,
        daemon: DaemonProcess,
        tell: Callable[[DaemonProcess], Awaitable[int]],
    ) -> None:
        ann, bob = await two_in_a_room(daemon)
        wait = asyncio.create_task(bob.call("GET", f"{ROOM}/wait", after_seq=2, timeout_s=60))
        await until(lambda: is_waiting(ann))
        began = asyncio.get_running_loop().time()
        assert await tell(daemon) == 0
        report("ended", asyncio.get_running_loop().time() - began)
        assert (await wait).body["reason"] == "closing"
        assert daemon.no_server_runs()
        assert left_behind(daemon) == set()
        assert "Traceback" not in daemon.read_log()

    @AS_BOTH
    async def test_a_closed_terminal(self, make: Make, home: Path) -> None:
        """Also in the midst of the start, and each process of the terminal is told."""
        daemon = make(home)
        for moment in (0.1, 0.6, None):
            ours, its = os.openpty()
            daemon.spawn(terminal=its)
            os.close(its)
            if moment is None:
                await daemon.ready()
                await two_in_a_room(daemon)
            else:
                await asyncio.sleep(moment)
            os.close(ours)
            # Before any line of ours is run, it ends Python itself.
            assert await daemon.exit_code() in (0, -signal.SIGHUP), daemon.read_log()
            await until(daemon.no_server_runs)
            assert left_behind(daemon) == set()
            assert "Traceback" not in daemon.read_log()

    async def test_callers_that_say_nothing_or_half_do_not_hold_it_up(
        self, daemon: DaemonProcess
    ) -> None:
        half = b"POST /api/v1/rooms HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        writers = []
        for said in (b"", half[:20], half):
            _, writer = await asyncio.open_unix_connection(daemon.socket)
            writer.write(said)
            writers.append(writer)
        assert (await daemon.caller("ann").call("GET", "/rooms")).status == 200
        began = asyncio.get_running_loop().time()
        assert await daemon.end() == 0
        report("ended with half requests open", asyncio.get_running_loop().time() - began)
        for writer in writers:
            writer.close()

    @pytest.mark.parametrize(
        ("account", "number"),
        [(ourselves, signal.SIGTERM), (ordinary_user, signal.SIGINT)],
        indirect=["account"],
    )
    async def test_while_it_makes_its_database(
        self, make: Make, home: Path, number: signal.Signals
    ) -> None:
        """At random moments of the first start, of which the import and initdb take most."""
        daemon = make(home)
        for _ in range(4):
            daemon.spawn()
            if number == signal.SIGINT:
                # Before any line of ours is run, Python may lose it.
                await until((daemon.state_dir / "lock").exists)
            await asyncio.sleep(random.uniform(0, 1.5))
            began = asyncio.get_running_loop().time()
            # Before any line of ours is run, it ends Python itself.
            code = await daemon.end(number, group=True)
            assert code in (0, -number), daemon.read_log()
            report("ended while starting", asyncio.get_running_loop().time() - began)
            assert daemon.no_server_runs()
            assert left_behind(daemon) == set()
        await daemon.start()
        assert await daemon.end() == 0

    async def test_killed_while_it_makes_its_database(self, make: Make, home: Path) -> None:
        daemon = make(home)
        for _ in range(4):
            daemon.spawn()
            await asyncio.sleep(random.uniform(0.3, 1.5))
            daemon.kill()
        await daemon.start()
        assert await daemon.end() == 0
        assert left_behind(daemon) == set()

    async def test_what_it_was_told_to_ignore_does_not_end_it(self, make: Make, home: Path) -> None:
        """As nohup does."""
        daemon = make(home)
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            daemon.spawn()
        finally:
            signal.signal(signal.SIGHUP, before)
        await daemon.ready()
        os.kill(daemon.pid, signal.SIGHUP)
        await two_in_a_room(daemon)
        assert await daemon.end() == 0

    async def test_twice(self, daemon: DaemonProcess) -> None:
        """Whoever is impatient presses Ctrl-C again."""
        os.kill(daemon.pid, signal.SIGINT)
        os.kill(daemon.pid, signal.SIGINT)
        assert await daemon.end(signal.SIGTERM) == 0
        assert daemon.no_server_runs()
        assert left_behind(daemon) == set()


class TestRestarts:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
    async def test_everything_outlives_them(
        self, daemon: DaemonProcess, number: signal.Signals
    ) -> None:
        ann, bob = await two_in_a_room(daemon)
        question = {"messages": [{"kind": "question", "body": "Which port?"}]}
        asked = await ann.call("POST", f"{ROOM}/messages", question, idempotency_key="asked")
        seq = asked.body["messages"][0]["seq"]
        await bob.call("GET", f"{ROOM}/messages")
        await bob.call("POST", "/cursor", {"cursors": {"plan": seq}})
        await bob.call("PUT", f"{ROOM}/messages/{seq}/reactions/agree")
        await bob.call("PUT", f"{ROOM}/status", {"status": "drafting", "expires_in_s": 3600})
        await bob.call("POST", f"{ROOM}/claims", {"key": "the-draft"})
        note = {"kind": "note", "body": "between us"}
        talk = await ann.call("POST", "/conversations", {"with": "bob"})
        path = f"/conversations/{talk.body['conversation']['id']}/messages"
        await ann.call("POST", path, note, idempotency_key="noted")

        before = await everything(ann, bob, path)
        assert await daemon.end(number) in (0, -number)
        await daemon.start()
        assert await everything(ann, bob, path) == before
        again = await ann.call("POST", f"{ROOM}/messages", question, idempotency_key="asked")
        assert (again.replayed, again.body) == (True, asked.body)
        said = await bob.call("POST", f"{ROOM}/messages", question)
        assert said.body["latest_seq"] == before["log"]["latest_seq"] + 1


async def everything(ann: Caller, bob: Caller, thread: str) -> dict[str, Any]:
    """What is shown of the room and of the thread, apart from when somebody last called."""
    paths = {
        "log": f"{ROOM}/events",
        "messages": f"{ROOM}/messages",
        "room": ROOM,
        "receipts": f"{ROOM}/messages/3/receipts",
        "reactions": f"{ROOM}/messages/3/reactions",
        "thread": thread,
        "unread": "/unread",
        "me": "/me",
    }
    shown = {}
    for name, path in paths.items():
        for caller in (ann, bob):
            reply = await caller.until_answered("GET", path)
            assert reply.status == 200, reply
            shown[name if caller is ann else f"{name} to bob"] = reply.body
    for page in (shown["room"], shown["room to bob"]):
        for member in page["members"]:
            del member["last_seen_at"], member["last_seen_seq"]
    return shown
