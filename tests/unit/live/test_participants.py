from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from coordroomsd.domain.participants import Actor, Participant
from coordroomsd.live import participants as participants_module
from coordroomsd.live.participants import Participants
from coordroomsd.store import reads

ADA, NOBODY = (Actor("default", name, "agent", "agent") for name in ("ada", "nobody"))
STORED = Participant(1, "default", "ada", "agent", "agent")


class Store:
    """Knows Ada; `asked` are the ids that were looked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def participant(self, _: object, actor: Actor) -> Participant | None:
        self.asked.append(actor.conversation_id)
        await self.may_answer.wait()
        return STORED if actor == ADA else None


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    store = Store()
    monkeypatch.setattr(reads, "participant", store.participant)
    return store


@pytest.fixture
def participants(store: Store) -> Participants:
    return Participants(cast(Any, None))


async def test_a_participant_is_looked_for_once(participants: Participants, store: Store) -> None:
    assert participants.peek(ADA) is None
    found = await asyncio.gather(participants.get(ADA), participants.get(ADA))
    assert list(found) == [STORED, STORED]
    assert await participants.get(ADA) is participants.peek(ADA) is STORED
    assert store.asked == ["ada"]


async def test_who_has_never_done_anything_is_looked_for_again(
    participants: Participants, store: Store
) -> None:
    assert await participants.get(NOBODY) is None
    assert await participants.get(NOBODY) is None
    assert store.asked == ["nobody", "nobody"]


async def test_what_is_published_while_it_is_looked_for_is_newer(
    participants: Participants, store: Store
) -> None:
    store.may_answer.clear()
    looking = asyncio.create_task(participants.get(ADA))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    published = replace(STORED, active_room_id=9)
    participants.put(published)
    store.may_answer.set()
    assert await looking is published
    assert participants.peek(ADA) is published


async def test_so_many_are_kept(
    participants: Participants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(participants_module, "KEPT", 2)
    for number, name in enumerate("abc"):
        participants.put(Participant(number, "default", name, "agent", "agent"))
    kept = [participants.peek(Actor("default", name, "agent", "agent")) for name in "abc"]
    assert [one.conversation_id for one in kept if one] == ["b", "c"]


async def test_a_name_is_one_s_project_s(participants: Participants) -> None:
    participants.put(STORED)
    assert participants.peek(Actor("other", "ada", "agent", "agent")) is None
