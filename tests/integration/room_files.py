"""Rooms with a history, as files and back."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterable
from typing import Any

from coordroomsd.archives.exports import write_room
from coordroomsd.archives.imports import Imported, RoomImport
from coordroomsd.archives.room_readers import RoomReader
from coordroomsd.domain.retention import Remove
from coordroomsd.journal.submissions import Answer
from coordroomsd.store import sessions
from coordroomsd.store.sessions import ConnectArguments
from tests.clocks import START, FakeClock
from tests.integration.archived import session
from tests.integration.daemons import Party, Running

Json = dict[str, Any]

REACTIONS = ("ack", "agree", "like", "ok")


async def exported(
    address: ConnectArguments, room: str = "plan", project: str = "default"
) -> bytes:
    output = io.BytesIO()
    async with session(address, sessions.BACKUP_SETTINGS) as connection:
        await write_room(connection, project, room, output)
    return output.getvalue()


async def imported(
    file: bytes, address: ConnectArguments, name: str | None = None, project: str | None = None
) -> Imported:
    reader = RoomReader(io.BytesIO(file))
    async with session(address) as connection, connection.transaction():
        return await RoomImport(connection, reader, project, name, START, lambda: None).run()


def parsed(file: bytes) -> list[Json]:
    return [json.loads(line) for line in file.splitlines()]


def written(lines: Iterable[Json]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def without_what_must_differ(file: bytes) -> list[Json]:
    """Ids by the name of what they are of; the times and the generation of the export go."""
    header, *rest = parsed(file)
    names = {
        line["member"]["membership_id"]: line["member"]["conversation_id"]
        for line in rest
        if "member" in line
    }
    text = json.dumps([header, *rest])
    for number, name in names.items():
        text = text.replace(number, name)
    lines: list[Json] = json.loads(text)
    for key in ("id", "generation"):
        lines[0]["room"].pop(key)
    lines[0].pop("at")
    return lines


async def live(daemon: Running, clock: FakeClock, seed: int, steps: int = 120) -> None:
    """Let four agents do anything that they may in a room named plan."""
    chance = random.Random(seed)
    parties = await daemon.room("plan", "ann", "bob/1", "cy", "dan")
    said = [await parties[0].say("plan", "why?", kind="question")]
    for step in range(steps):
        party = chance.choice(parties)
        if chance.random() < 0.2:
            clock.pass_seconds(chance.choice((0.25, 1, 40, 700)))
        said += await _something(party, chance, step, said)
    if seed % 2:
        await _remove(daemon, chance.randrange(2, steps // 3))


async def _something(
    party: Party, chance: random.Random, step: int, said: list[list[int]]
) -> list[list[int]]:
    room, key = "/rooms/plan", chance.choice(("the draft", "ключ", "k"))
    target = chance.choice(said)[0]
    match chance.randrange(9):
        case 0 | 1:
            kind = chance.choice(("decision", "warning", "question", "status"))
            post = {"messages": [{"kind": kind, "body": f"{step}\n“é” 🜁 \\N\t"}]}
            reply = await party.call("POST", f"{room}/messages", post)
            return [[m["seq"] for m in reply.body["messages"]]] if reply.status == 201 else []
        case 2:
            answer = {"kind": "answer", "body": "so", "reply_to": target}
            await party.call("POST", f"{room}/messages", {"messages": [answer]})
        case 3:
            method, reaction = chance.choice(("PUT", "DELETE")), chance.choice(REACTIONS)
            await party.call(method, f"{room}/messages/{target}/reactions/{reaction}")
        case 4:
            text = chance.choice(("reading", "writing", None))
            body = {"status": text, "expires_in_s": chance.choice((30, 600))}
            await party.call("PUT", f"{room}/status", body)
        case 5:
            claim = {"key": key, "lease_s": chance.choice((60, 7200))}
            await party.call(
                "POST", f"{room}/claims", claim | chance.choice(({}, {"proposed_by_seq": target}))
            )
        case 6:
            await party.call("DELETE", f"{room}/claims", key=key)
        case 7:
            await party.call("POST", f"{room}/{chance.choice(('leave', 'join', 'join'))}")
        case 8:
            await party.call("GET", f"{room}/wait", after_seq=target, timeout_s=0)
    return []


async def _remove(daemon: Running, first_seq: int) -> None:
    """As retention does."""
    number = await daemon.database.reads.fetchval("SELECT id FROM rooms")
    await daemon.services.journal.execute(
        Remove(number, first_seq), lambda decision, draft: Answer(200, b"{}")
    )
