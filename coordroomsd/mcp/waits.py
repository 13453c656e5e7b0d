"""The tool `wait`: the API's waits under a host's limits, and the cursor that joins them up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from coordroomsd.domain.errors import Refusal, invalid
from coordroomsd.mcp import cursors, results
from coordroomsd.mcp.agents import Agent, segment
from coordroomsd.mcp.cursors import Cursor
from coordroomsd.mcp.results import Json

DEFAULT_TIMEOUT_S: Final = 50.0
# A thread that a peer opens meanwhile is no part of a parked wait, so that one looks around anew.
LOOK_AROUND_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: what one wait may take with this host, and what of it had passed before the call."""

    longest_s: float
    waited_s: float = 0.0

    def timeout_s(self, asked_s: float) -> float:
        return max(0.0, min(asked_s, self.longest_s) - self.waited_s)


async def wait(agent: Agent, given: Json, limits: Limits) -> Json:
    """Shaped as the API's wait in one room where `room` or `after_seq` is given, else in all."""
    if "cursor" in given and "after_seq" in given:
        raise invalid("cursor", "and after_seq both say where to begin; give one of them")
    cursor = (
        cursors.parsed(given["cursor"])
        if "cursor" in given
        else Cursor(generation=agent.generation)
    )
    timeout_s = limits.timeout_s(given.get("timeout_s", DEFAULT_TIMEOUT_S))
    wake_on = _kinds(given.get("wake_on", []))
    if "room" in given or "after_seq" in given:
        after = given.get("after_seq")
        return await _in_one_room(agent, given.get("room"), after, cursor, wake_on, timeout_s)
    return await _everywhere(agent, cursor, wake_on, timeout_s)


async def _in_one_room(
    agent: Agent,
    room: str | None,
    after_seq: int | None,
    cursor: Cursor,
    wake_on: list[str],
    timeout_s: float,
) -> Json:
    path = f"/rooms/{segment(room or '@active')}"
    if cursor.at:
        after_seq = cursor.at.get(_key((await agent.ask("GET", path))["room"]))
    answer = await agent.ask(
        "GET",
        f"{path}/wait",
        query={
            "after_seq": after_seq,
            "generation": cursor.generation,
            "wake_on": wake_on or None,
            "timeout_s": timeout_s,
        },
    )
    reached = cursor.moved({answer["room"]: answer["next_after_seq"]}, answer["generation"])
    return {**results.marked(answer, agent.name), "next_cursor": str(reached)}


async def _everywhere(agent: Agent, cursor: Cursor, wake_on: list[str], timeout_s: float) -> Json:
    left_s = timeout_s
    while True:
        me = await agent.ask("GET", "/me")
        rooms = [*([me["active_room"]] if me["active_room"] else []), *me["conversations"]]
        if not rooms:
            raise Refusal(
                "active_membership_not_found",
                f"{agent.name} is in no room and has no threads, so nothing can be waited for.",
            )
        turn_s = min(left_s, LOOK_AROUND_S)
        answer = await agent.ask(
            "POST",
            "/wait",
            query={"generation": cursor.generation},
            body={
                "cursors": {_key(room): cursor.at.get(_key(room)) for room in rooms},
                "wake_on": _placed(wake_on, [_key(room) for room in rooms]) or ["message"],
                "timeout_s": turn_s,
            },
        )
        left_s -= turn_s
        if answer["reason"] != "timeout" or left_s <= 0:
            break
    news = {room: part["next_after_seq"] for room, part in answer["rooms"].items()}
    reached = cursor.moved(news, rooms[0]["generation"])
    return {**results.marked(answer, agent.name), "next_cursor": str(reached)}


def _key(room: Json) -> str:
    """What a room is called in cursors: its slug, or a thread's id."""
    key: str = room["slug"] or room["id"]
    return key


def _kinds(given: Iterable[str]) -> list[str]:
    """`wake_on` as a list; a value with a colon holds a key, whose commas are its own."""
    return [
        kind.strip()
        for value in given
        for kind in ([value] if ":" in value else value.split(","))
        if kind.strip()
    ]


def _placed(wake_on: Iterable[str], rooms: list[str]) -> list[str]:
    """Targets with the room that they are in: the one they name, else the first, the active one."""
    placed = []
    for kind in wake_on:
        name, colon, target = kind.partition(":")
        named = not colon or any(target.startswith(f"{room}/") for room in rooms)
        placed.append(kind if named else f"{name}:{rooms[0]}/{target}")
    return placed
