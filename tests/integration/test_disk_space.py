"""On a nearly full disk writes are refused, reads go on, and nothing has to be restarted."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.store import disk_space
from coordroomsd.store.database import Database
from coordroomsd.store.disk_space import check_space
from coordroomsd.store.errors import NoSpaceError
from tests.integration.daemons import Running, message, running

MORE_THAN_THERE_IS = 1 << 62


def test_what_is_free_is_enough_or_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_space, "RESERVED_BYTES", 1)
    check_space(tmp_path)
    monkeypatch.setattr(disk_space, "RESERVED_BYTES", MORE_THAN_THERE_IS)
    with pytest.raises(NoSpaceError, match=r"only \d+ MiB are free"):
        check_space(tmp_path)


async def test_only_a_server_of_our_own_is_looked_after(
    connect_arguments: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "RESERVED_BYTES", MORE_THAN_THERE_IS)
    elsewhere = await Database.open(connect_arguments, owner="us")
    elsewhere.check_space()
    await elsewhere.close()
    ours = await Database.open(connect_arguments, owner="us", data=tmp_path)
    with pytest.raises(NoSpaceError):
        ours.check_space()
    with pytest.raises(NoSpaceError):
        async with ours.side_session():
            pass
    await ours.close()


class TestNearlyFull:
    async def test_writes_are_refused_and_reads_go_on(
        self,
        connect_arguments: dict[str, Any],
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level(logging.INFO)
        async with running(connect_arguments) as daemon:
            ada, bob = await daemon.room("plan", "ada", "bob")
            await ada.say("plan", "before")
            parked = asyncio.create_task(bob.wait("plan", 3))
            with monkeypatch.context() as full:
                fill(full, daemon)
                for number in range(3):
                    path = "/rooms/plan/messages"
                    reply = await ada.call(
                        "POST", path, message("lost"), idempotency_key=str(number)
                    )
                    assert (reply.status, reply.body["code"]) == (503, "store_unavailable")
                    assert reply.body["retry_after_s"] == 1
                    assert "the disk is full" in reply.body["detail"]
                with pytest.raises(Refusal):
                    await daemon.services.journal.flush()
                assert [event["seq"] for event in await bob.events("plan")] == [1, 2, 3]
            reply = await ada.call(
                "POST", "/rooms/plan/messages", message("kept"), idempotency_key="1"
            )
            assert reply.status == 201
            assert (await parked)["woken_by"] == [4]
        said = [record.message for record in caplog.records if "writes" in record.message]
        assert said == [
            "the database refuses writes: the disk is full",
            "the database takes writes again",
        ]


def fill(monkeypatch: pytest.MonkeyPatch, daemon: Running) -> None:
    def refuse() -> None:
        raise NoSpaceError("the disk is full")

    monkeypatch.setattr(daemon.database, "check_space", refuse)
