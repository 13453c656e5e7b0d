"""A daemon that comes back with an older copy of its database, under clients that live on."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

from coordrooms import (
    AsyncClient,
    AsyncRoom,
    Event,
    Followed,
    HistoryRestored,
    Message,
)
from tests.acceptance.daemons import Daemon
from tests.acceptance.mcp_hosts import host
from tests.polling import GIVE_UP_AFTER_S, until

Unique = Callable[[str], str]


def back_up(daemon: Daemon) -> Path:
    file = daemon.state_dir / "rooms.backup"
    _run(daemon, "backup", file)
    return file


def bring_back(daemon: Daemon, backup: Path) -> None:
    """As docs/operations.md says."""
    daemon.stop()
    shutil.move(daemon.state_dir / "data", daemon.state_dir / "data.before")
    _run(daemon, "restore", backup)
    daemon.start()


def _run(daemon: Daemon, command: str, file: Path) -> None:
    words = [command, "--state-dir", str(daemon.state_dir), str(file)]
    subprocess.run([sys.executable, "-m", "coordroomsd", *words], check=True, capture_output=True)


def coordrooms(daemon: Daemon, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "coordrooms", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ) | {"COORDROOMS_URL": daemon.url},
    )


async def until_said(items: AsyncGenerator[Followed, None], last: str) -> list[Followed]:
    """What comes until somebody says `last`."""
    found: list[Followed] = []
    async for item in items:
        found.append(item)
        if isinstance(item, Message) and item.body == last:
            return found
    raise AssertionError("it ended by itself")


def bodies(items: list[Followed]) -> list[str]:
    return [item.body for item in items if isinstance(item, Message)]


async def is_waiting(room: AsyncRoom, name: str) -> bool:
    return any(m.waiting for m in await room.members() if m.conversation_id == name)


async def test_clients_of_the_library_learn_it_and_go_on(
    own_daemon: Daemon, unique: Unique
) -> None:
    name = unique("bob")
    async with (
        AsyncClient(unique("ann"), url=own_daemon.url) as anns,
        AsyncClient(name, url=own_daemon.url) as bobs,
    ):
        ann = await anns.create_room(unique("room"))
        bob = await bobs.join(ann.ref)
        async with aclosing(bob.follow()) as followed, aclosing(ann.stream(0)) as streamed:
            await ann.post("kept")
            backup = await asyncio.to_thread(back_up, own_daemon)
            await ann.post("lost")
            assert bodies(await until_said(followed, "lost")) == ["kept", "lost"]
            assert bodies(await until_said(streamed, "lost")) == ["kept", "lost"]
            parked = asyncio.create_task(until_said(followed, "anew"))
            await until(lambda: is_waiting(ann, name))

            await asyncio.to_thread(bring_back, own_daemon, backup)
            old = (await bob.wait(0, timeout_s=0)).generation
            posted = await ann.post("anew")
            restored, *after = await parked
            assert isinstance(restored, HistoryRestored)
            assert restored.generation == old
            # From the cursor that is in the copy: what it had not proven comes again.
            assert bodies(after) in (["anew"], ["kept", "anew"])
            assert all(isinstance(item, Event) for item in after)

            restored, *after = await until_said(streamed, "anew")
            assert isinstance(restored, HistoryRestored)
            assert bodies(after) == ["kept", "anew"]
            # The same number as that of what was lost.
            assert [item.seq for item in after if isinstance(item, Event)] == [1, 2, 3, 4]
            assert posted.messages[0].seq == 4


async def test_commands_and_agents_learn_it(own_daemon: Daemon, unique: Unique) -> None:
    name, room = unique("ann"), unique("room")
    async with (
        AsyncClient(name, url=own_daemon.url) as client,
        host(own_daemon, unique("cy")) as cy,
        host(own_daemon, unique("dan")) as dan,
    ):
        ann = await client.create_room(room)
        for agent in (cy, dan):
            await agent("join_room", roomName=room)
        backup = await asyncio.to_thread(back_up, own_daemon)
        lost = (await ann.post("lost")).messages[0].seq
        assert bodies(list((await ann.wait(0, timeout_s=0)).events)) == []
        tail = coordrooms(own_daemon, "tail", room, "--follow", "--as", name)
        assert tail.stdout is not None
        assert "lost" in await asyncio.to_thread(tail.stdout.readline)
        words = ("--after", str(lost), "--timeout", "300", "--as", name)
        waiting = coordrooms(own_daemon, "wait", room, *words)
        parked = asyncio.create_task(cy.failure("wait", after_seq=lost))
        await until(lambda: is_waiting(ann, name))
        await until(lambda: is_waiting(ann, unique("cy")))

        await asyncio.to_thread(bring_back, own_daemon, backup)

        # The relay that sends the wait again knows of which database the agent's number is.
        failure = await parked
        assert failure["code"] == "generation_changed"
        assert "restored" in failure["recovery"]
        await asyncio.to_thread(waiting.wait, GIVE_UP_AFTER_S)
        _, told = await asyncio.to_thread(waiting.communicate)
        assert (waiting.returncode, told.split(":")[1].strip()) == (3, "generation_changed")
        # Told once, an agent goes on; one that was not waiting is told at its next number.
        answering = {"kind": "answer", "body": "Yes.", "replyToMessageId": lost}
        failure = await dan.failure("write_messages", messages=[answering])
        assert failure["code"] == "generation_changed"
        await ann.post("anew")
        for agent in (cy, dan):
            woken = (await agent("wait"))["rooms"][room]
            assert [e["body"] for e in woken["events"] if e["type"] == "message"] == ["anew"]

        assert tail.stderr is not None
        assert "restored from an older copy" in await asyncio.to_thread(tail.stderr.readline)
        assert "anew" in await asyncio.to_thread(tail.stdout.readline)
        tail.terminate()
        await asyncio.to_thread(tail.communicate)


async def test_a_number_with_its_generation_is_refused_by_another(
    own_daemon: Daemon, unique: Unique
) -> None:
    async with AsyncClient(unique("ann"), url=own_daemon.url) as client:
        ann = await client.create_room(unique("room"))
        words = ("wait", ann.ref, "--after", "0", "--generation", "another", "--as", unique("ann"))
        process = coordrooms(own_daemon, *words)
        _, told = await asyncio.to_thread(process.communicate)
        assert process.returncode == 3
        assert "generation_changed" in told
